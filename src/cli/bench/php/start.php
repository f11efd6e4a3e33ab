<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// Starting and ending PHP: the process as a whole is what counts.
return fn (): string => 'started';
