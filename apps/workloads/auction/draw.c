/* What people ask of a site. Pure. */
#include "apps/workloads/auction/site.h"

const char *const request_names[] = {"search", "view_item", "view_person", "view_bids", "about_me",
                                     "bid",    "buy",       "comment",     "sell",      "register"};

/* Of 1,000 requests, by kind. The seven kinds of RUBiS that read (browsing, searching, viewing) and
 * the five that write, weighed as its mix for bidders has them. */
static const unsigned mix[KINDS] = {420, 250, 60, 60, 60, 90, 15, 20, 20, 5};

static uint32_t draw_kind(struct prng *prng)
{
    uint32_t of = prng_below(prng, 1000), kind = 0;

    while (of >= mix[kind])
        of -= mix[kind++];
    return kind;
}

/* People look at what they have just been shown. */
static uint32_t draw_item(struct prng *prng, const struct reply *last, unsigned items)
{
    return last->rows ? last->row[prng_below(prng, last->rows)].item : 1 + prng_below(prng, items);
}

void request_draw(struct prng *prng, const struct reply *last, unsigned items, unsigned people,
                  uint32_t person, struct request *out)
{
    *out = (struct request){.kind = draw_kind(prng), .person = person};
    switch (out->kind) {
    case SEARCH:
        out->target = prng_below(prng, CATEGORIES);
        out->from = prng_below(prng, items);
        break;
    case SELL:
        out->target = prng_below(prng, CATEGORIES);
        out->amount = 100 + prng_below(prng, 10000);
        break;
    case COMMENT:
        out->from = prng_below(prng, 11);
        out->target = 1 + prng_below(prng, people);
        break;
    case VIEW_PERSON:
        out->target = 1 + prng_below(prng, people);
        break;
    case BID:
        out->amount = 1 + prng_below(prng, 100);
        out->target = draw_item(prng, last, items);
        break;
    default:
        out->target = draw_item(prng, last, items);
    }
}

const char *reply_check(const struct request *request, const struct reply *reply)
{
    if (reply->rows > ROWS)
        return "rows";
    for (uint32_t i = 0; i < reply->rows; i++)
        if (!reply->row[i].item || !reply->row[i].person || reply->row[i].amount <= 0)
            return "row";
    if (request->kind == SEARCH)
        for (uint32_t i = 0; i < reply->rows; i++)
            if (reply->row[i].item < (i ? reply->row[i - 1].item + 1 : request->from))
                return "order";
    if (request->kind == VIEW_BIDS)
        for (uint32_t i = 1; i < reply->rows; i++)
            if (reply->row[i].amount <= reply->row[i - 1].amount)
                return "bids";
    if (request->kind == BID && !reply->status && reply->value <= request->amount)
        return "bid";
    return NULL;
}
