package commerce

import (
	"errors"
	"slices"
)

// JobKind names what a job does.
type JobKind string

// The kinds.
const (
	JobDeliverWebhook JobKind = "deliver_webhook"  // Subject: webhook event
	JobMailReady      JobKind = "mail_order_ready" // Subject: order
	JobMailPaid       JobKind = "mail_order_paid"  // Subject: order; to the merchant, as is the next
	JobTextPaid       JobKind = "text_order_paid"  // Subject: order
	JobReleaseParked  JobKind = "release_parked"   // Subject: partner, whose parked jobs wait again
	JobOpenSession    JobKind = "open_session"     // Subject: order, whose customer is to pay
	JobExpireSession  JobKind = "expire_session"   // Subject: order, which nobody shall pay any more
	JobRefund         JobKind = "refund_payment"   // Subject: refund
	JobDispatch       JobKind = "dispatch"         // Subject: delivery, by its Ref, which a courier is to bring
	JobCancelDelivery JobKind = "cancel_delivery"  // Subject: order, whose courier is to stay at home
	JobCourierUpdate  JobKind = "courier_update"   // Subject: order, whose partner has not heard of the newest
	JobCheckDelivery  JobKind = "check_delivery"   // Subject: delivery, by its Ref, of which nothing was heard
	JobSandboxStep    JobKind = "sandbox_step"     // Subject: sandbox object, which moves
	JobSandboxNotice  JobKind = "sandbox_notice"   // Subject: sandbox object that holds the notice
)

// JobState says who moves a job on. A job that is done is deleted.
type JobState string

// The states.
const (
	JobWaiting JobState = "waiting"  // a worker, from RunAt on
	JobParked  JobState = "parked"   // its endpoint, once that answers again or is resumed
	JobDead    JobState = "dead"     // an operator; no try is left
	JobGivenUp JobState = "given_up" // no one: an operator gave it up, which recorded its outcome; kept until it is swept
)

// Job is work that leaves the process, stored with the change that asks for
// it: never lost, and never done for a change that did not happen.
type Job struct {
	Slot    int64  // 0..JobSlots-1, given by the committer: one slot a batch
	ID      string // given by the committer
	Kind    JobKind
	Mode    Mode   // of what it is about; the committer writes Live where a command left it empty
	Owner   string // what its subject is found by: a partner, or a store
	Subject string
	// PartnerID is the partner whose order it is about, where Owner is a store;
	// empty: the order is the merchant's.
	PartnerID string
	RunAt     int64 // Unix ms
	State     JobState
	Tries     int64 // tries that failed
	// Probes are those of the tries that were made while the job was parked, or
	// before its time. They ask whether the other end is back and do not use up
	// the schedule.
	Probes int64
	Error  string // why the last try failed

	// Awaited says that the job decides the answer of the command that asks for
	// it, whose caller is about to have it done. It is not stored: once the caller
	// is gone, the job is one as any other.
	Awaited bool

	LeasedBy    string // the worker that has it; empty: none
	LeasedUntil int64  // Unix ms

	// Event is the subject, where whoever has the job has it in hand; nil: it is to
	// be read. It is no part of what is stored.
	Event *WebhookEvent
	// Order and Payment are the same for jobs about an order. What is stored of
	// them may be another state by now.
	Order   *Order
	Payment *Payment
}

// JobKey names a job.
type JobKey struct {
	Slot int64
	ID   string
}

// Key of the job.
func (j Job) Key() JobKey { return JobKey{j.Slot, j.ID} }

// JobClass is the jobs of a kind and a mode.
type JobClass struct {
	Kind JobKind
	Mode Mode
}

// JobLane is the jobs of a class that share an owner and a partner: they fail,
// and wait, for the same reasons.
type JobLane struct {
	JobClass
	PartnerID string
	Owner     string
}

// Lane of the job.
func (j Job) Lane() JobLane { return JobLane{JobClass{j.Kind, j.Mode}, j.PartnerID, j.Owner} }

// Leased tells whether a worker has the job. A lease that ends after
// LongestLease is not believed.
func (j Job) Leased(now int64) bool {
	return j.LeasedUntil > now && j.LeasedUntil <= now+LongestLease
}

// LeasedTo is the job as the worker has it; with no worker, as it is given back.
func (j Job) LeasedTo(worker string, until int64) Job {
	j.LeasedBy, j.LeasedUntil = worker, until
	return j
}

// SameLease tells whether other, a copy of the job, has the lease that the job
// has now. A worker's name alone proves nothing: a worker that stalled may have
// claimed the job again, and its first try is then as late as another worker's.
func (j Job) SameLease(other Job) bool {
	return j.LeasedBy == other.LeasedBy && j.LeasedUntil == other.LeasedUntil
}

// JobSlots is the number of slots that jobs are spread over.
const JobSlots = 32

// JobLease is how long a claimed job belongs to its worker, in milliseconds.
// A lease that ran out is no failed try.
const JobLease = 30 * second

// LongestLease is how far ahead the end of a lease may lie, in milliseconds. The
// clock of the worker may be ahead of the clock of the process that reads the lease;
// without this margin a clock that is a millisecond behind would have two processes
// do the same job. A lease that ends later was written while a clock was wrong, and
// is ignored: else nothing would do the job until then.
const LongestLease = 2 * JobLease

const (
	second = int64(1000)
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
)

// RetryDelays are the waits after each failed try, in milliseconds; there is
// one try more than there are delays.
var RetryDelays = []int64{5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour}

// NoticeDelays are those of mail and SMS, which are of no use the day after.
var NoticeDelays = RetryDelays[:5]

// PaymentDelays are those of calls to a payment processor, together shorter
// than a session lasts.
var PaymentDelays = RetryDelays[:6]

// DispatchDelays are those of looking for a courier.
var DispatchDelays = []int64{5 * second, 30 * second, 2 * minute, 5 * minute, 10 * minute, 20 * minute, 30 * minute, hour, 2 * hour}

// CancelDelays are those of sending a courier home, who is on the way meanwhile.
var CancelDelays = []int64{5 * second, 15 * second, 30 * second, minute, 2 * minute, 5 * minute, 10 * minute, 30 * minute}

// StepDelays are those of a step of a sandbox object: the courier waits.
var StepDelays = []int64{second, 5 * second, 5 * second, 15 * second, 15 * second, minute, minute, minute}

// Delays are the waits after each failed try of a job of the kind.
func (k JobKind) Delays() []int64 {
	switch k {
	case JobMailReady, JobMailPaid, JobTextPaid, JobSandboxNotice:
		return NoticeDelays
	case JobOpenSession, JobExpireSession, JobRefund:
		return PaymentDelays
	case JobDispatch:
		return DispatchDelays
	case JobCancelDelivery:
		return CancelDelays
	case JobSandboxStep:
		return StepDelays
	}
	return RetryDelays
}

// CheckEvery is after how long of silence the provider of a delivery is asked,
// in milliseconds: notices can be lost.
const CheckEvery = 5 * minute

// JobHorizon is beyond what any rule puts a job off by, in milliseconds. What
// lies further ahead was written while the clock was ahead.
const JobHorizon = 2 * day

// Due tells whether the job may run: its time has come, or is not to be
// believed.
func (j Job) Due(now int64) bool {
	return j.State == JobWaiting && due(j.RunAt, now)
}

func due(at, now int64) bool { return at <= now || at > now+JobHorizon }

// PermanentError is the failure of a job that no further try can mend. Any
// other error is temporary.
type PermanentError struct{ Err error }

func (e *PermanentError) Error() string { return e.Err.Error() }
func (e *PermanentError) Unwrap() error { return e.Err }

// Failed is the job after one more try that failed: due again after the next
// delay, or dead if the error is permanent or no delay is left. The caller
// draws jitter from [0, 1).
func (j Job) Failed(err error, delays []int64, now int64, jitter float64) Job {
	j.Tries++
	if j.State == JobParked {
		j.Probes++
	}
	j.Error = CleanText(err.Error(), MaxNote)
	wait, left := retryDelay(delays, j.Tries-j.Probes, jitter)
	j.RunAt = now + wait
	j.State = JobWaiting
	var permanent *PermanentError
	if !left || errors.As(err, &permanent) {
		j.State = JobDead
	}
	return j
}

// Over tells whether no try is left.
func (j Job) Over() bool { return j.State == JobDead || j.State == JobGivenUp }

// GivenUp is a dead job whose outcome an operator decides.
func (j Job) GivenUp(by, reason string, now int64) Job {
	j.State, j.RunAt, j.Error = JobGivenUp, now, CleanText("given up by "+by+": "+reason, MaxNote)
	return j
}

// Holds tells whether a dead job of the kind may hold something that only its
// outcome releases: money that is set aside, or an open idempotency key. Such a
// job is never swept.
func (k JobKind) Holds() bool { return slices.Contains(HoldingKinds, k) }

// HoldingKinds are the kinds that hold.
var HoldingKinds = []JobKind{JobOpenSession, JobRefund, JobDispatch, JobCancelDelivery}

// retryDelay is the wait after so many failed tries, and whether there is
// one; then it is the last delay. Jitter adds up to a tenth.
func retryDelay(delays []int64, tries int64, jitter float64) (int64, bool) {
	i := min(max(tries, 1), int64(len(delays)))
	d := delays[i-1]
	return d + int64(float64(d/10)*jitter), tries <= int64(len(delays))
}
