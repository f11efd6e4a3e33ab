/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Who a client is: the user "default" with the password, or a site with what its secret gives. */
#include "core/sha256.h"
#include "kv/redis/state.h"

bool redis_auth_needed(const struct redis_server *s)
{
    return s->opt.password.len > 0 || s->opt.many_sites;
}

/* Where the user "default" is: on the only site, or on the one of that name. NULL: nowhere. */
static struct redis_site *default_site(const struct redis_server *s)
{
    if (s->opt.many_sites)
        return redis_server_site(s, STR("default"));
    return list_empty(&s->sites) ? NULL : CONTAINER_OF(s->sites.next, struct redis_site, node);
}

/* What a client subscribed to, watched and queued belongs to its old site. */
void redis_auth_enter(struct redis_client *c, struct redis_site *site, struct str user)
{
    if (c->site != site) {
        redis_pubsub_reset(c);
        redis_multi_reset(c);
    }
    c->site = site;
    c->authenticated = true;
    (void)str_put(c->user, sizeof(c->user), user);
}

void redis_auth_reset(struct redis_client *c)
{
    redis_pubsub_reset(c);
    redis_multi_reset(c);
    c->site = default_site(c->server);
    c->authenticated = c->site && !redis_auth_needed(c->server);
    (void)str_put(c->user, sizeof(c->user), STR("default"));
}

/* Whoever knows HMAC(secret, site) belongs to the site. */
static bool proves_site(const struct redis_server *s, struct str site, struct str proof)
{
    char want[SHA256_HEX], lower[SHA256_HEX];

    if (s->opt.secret.len == 0 || proof.len != SHA256_HEX)
        return false;
    sha256_hmac_hex(s->opt.secret, site, want);
    for (size_t i = 0; i < SHA256_HEX; i++)
        lower[i] = str_lower_char(proof.p[i]);
    return sha256_same(str_n(want, sizeof(want)), str_n(lower, sizeof(lower)));
}

bool redis_auth(struct redis_call *c, const struct str *user, struct str password)
{
    const struct redis_server *s = c->server;
    struct redis_site *site;

    if (!user && s->opt.password.len == 0) {
        reply_error(c->reply,
            "ERR AUTH <password> called without any password configured for the default user. Are "
            "you sure your configuration is correct?");
        return false;
    }
    if (!user || str_eq(*user, STR("default"))) {
        /* Without a password anything is right, but only where nobody has to say who he is. */
        site = default_site(s);
        if (site &&
            (s->opt.password.len ? sha256_same(s->opt.password, password) : !s->opt.many_sites)) {
            redis_auth_enter(c->client, site, STR("default"));
            return true;
        }
    } else if (proves_site(s, *user, password)) {
        site = redis_server_site(s, *user);
        if (site) {
            redis_auth_enter(c->client, site, *user);
            return true;
        }
        reply_error(c->reply, "LOADING The site has not been started yet: request a page of it");
        return false;
    }
    reply_error(c->reply, "WRONGPASS invalid username-password pair or user is disabled.");
    return false;
}
