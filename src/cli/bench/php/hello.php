<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
echo 'hello';
