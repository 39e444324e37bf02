package load

import (
	"math/bits"
	"time"
)

// histogram counts latencies in buckets that are at most 1/64 wide, so that a
// percentile is right within 2 % and recording costs a few nanoseconds.
type histogram struct {
	buckets [buckets]uint64
	count   uint64
}

const (
	bucketBits = 6
	buckets    = 40 << bucketBits // up to some hours
)

func bucketOf(d time.Duration) int {
	v := uint64(max(d, 0))
	if v < 1<<bucketBits {
		return int(v)
	}
	exponent := bits.Len64(v) - bucketBits - 1
	return min(exponent<<bucketBits+int(v>>exponent), buckets-1)
}

// valueOf is the middle of a bucket.
func valueOf(bucket int) time.Duration {
	if bucket < 2<<bucketBits {
		return time.Duration(bucket)
	}
	exponent := bucket>>bucketBits - 1
	return time.Duration((bucket-exponent<<bucketBits)<<exponent + 1<<exponent/2)
}

func (h *histogram) record(d time.Duration) {
	h.buckets[bucketOf(d)]++
	h.count++
}

func (h *histogram) add(o *histogram) {
	for i, n := range o.buckets {
		h.buckets[i] += n
	}
	h.count += o.count
}

// quantile is the latency that this share of the samples does not exceed.
func (h *histogram) quantile(q float64) time.Duration {
	if h.count == 0 {
		return 0
	}
	rank := uint64(q * float64(h.count-1))
	seen := uint64(0)
	for i, n := range h.buckets {
		if seen += n; seen > rank {
			return valueOf(i)
		}
	}
	return valueOf(buckets - 1)
}
