<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Controller;

use Train\Serializer\Field;

final class Customer
{
    #[Field(groups: ['order'])]
    public string $name;
    #[Field]
    public string $email;
    #[Field(groups: ['order'])]
    public ?string $site = null;
}
