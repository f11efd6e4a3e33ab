/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STORE_FKTEXT_H
#define EPHPM_DB_STORE_FKTEXT_H

/* A foreign key as MySQL's errors name it. */

#include "base/buf.h"
#include "db/catalog.h"

struct fk_place {
    const struct db_cat_table *table; /* that has it */
    const struct db_cat_fk *fk;
};

/* `db`.`t`, CONSTRAINT `name` FOREIGN KEY (`a`) REFERENCES `u` (`b`) ON DELETE CASCADE */
void fk_text(struct buf *out, struct str schema, struct fk_place at);

#endif
