package commerce

// CredentialsError is a provider's refusal of our credentials or our account
// (HTTP 401 or 403). The call had no effect, and repeating it is of no use
// before the operator has changed the configuration.
type CredentialsError struct{ Message string } // for the operator: what to change; no secret

func (e *CredentialsError) Error() string { return e.Message }

// ProviderError is the failure of a call to a payment processor or a courier
// provider that did not end in an answer to the call itself. Unless Err is a
// CredentialsError, the call may have had an effect.
type ProviderError struct {
	Provider string // the name that is configured
	Err      error
}

func (e *ProviderError) Error() string { return e.Err.Error() }
func (e *ProviderError) Unwrap() error { return e.Err }

// ProcessorRefusesUs is what partners are told of a payment processor's
// CredentialsError. It is stored as the error of the payment or the refund, by
// which the call that waits for it knows the cause.
const ProcessorRefusesUs = "The payment processor does not accept this service's credentials; its operator has to set them right"
