/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STORE_FACTS_H
#define EPHPM_DB_STORE_FACTS_H

/* What the relations of information_schema are made of, as one session sees it. */

#include "db/ddl/info.h"

struct db_session;

/* needs: info_needs. Within a statement of the session; lies in the arena and borrows from the
 * session until the statement ends. */
struct info_facts *store_facts(struct db_session *s, struct arena *arena, uint32_t needs,
    const struct info_filter *filter) MUST_CHECK;

#endif
