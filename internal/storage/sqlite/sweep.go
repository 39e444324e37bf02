package sqlite

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"

	"github.com/go-json-experiment/json"
)

// sweepMost is how much is swept at a call, so that batches wait a few
// milliseconds at most.
const sweepMost = 1000

// Sweep implements storage.Engine.
func (e *Engine) Sweep(ctx context.Context, now commerce.Millis) (int, error) {
	partners, err := newReader(e).Partners(ctx)
	if err != nil {
		return 0, err
	}
	return schema.Sweep(now, partners, sweepMost, func(p *schema.Plain, x schema.Expired, args []any, limit int) (int, error) {
		return e.writeOne(ctx, "DELETE FROM "+p.Name+" WHERE ("+p.Key+") IN ("+p.FindSQL(x)+")", bind(append(args, limit)...))
	})
}

// CountReplies implements storage.Engine.
func (e *Engine) CountReplies(ctx context.Context, now commerce.Millis) (schema.ReplyBytes, error) {
	if added := e.replies.Take(); len(added) > 0 {
		list, err := json.Marshal(added)
		if err == nil {
			_, err = e.writeOne(ctx, "INSERT INTO stored_replies (partner_id, hour, bytes) SELECT key, ?, value FROM json_each(?) WHERE true"+
				" ON CONFLICT (partner_id, hour) DO UPDATE SET bytes = bytes + excluded.bytes",
				func(b schema.Binder) { b.Int(schema.HourOf(now)).JSON(list) })
		}
		if err != nil {
			e.replies.Add(added)
			return nil, err
		}
	}
	stored := schema.ReplyBytes{}
	err := newReader(e).rows(ctx, "SELECT partner_id, sum(bytes) FROM stored_replies GROUP BY partner_id", nil,
		func(s schema.Scanner) { stored[s.Text()] = s.Int() })
	return stored, err
}
