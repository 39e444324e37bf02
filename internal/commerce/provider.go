package commerce

// CredentialsError is a provider's refusal of our credentials or our account (HTTP 401 or
// 403). The call had no effect, and repeating it does not help until the operator changes
// the configuration.
type CredentialsError struct{ Message string } // for the operator: what to change; no secret

func (e *CredentialsError) Error() string { return e.Message }

// ProviderError is the failure of a call to a payment processor or a courier provider to
// which the provider gave no answer of its own. Unless Err is a CredentialsError, the call
// may have had an effect.
type ProviderError struct {
	Provider string // the name that is configured
	Err      error
}

func (e *ProviderError) Error() string { return e.Err.Error() }
func (e *ProviderError) Unwrap() error { return e.Err }

// ProcessorRefusesUs is the text for partners about a payment processor's CredentialsError.
// It is stored as the error of the payment or the refund, and the call that waits for the
// outcome recognises the cause by it.
const ProcessorRefusesUs = "The payment processor does not accept this service's credentials; its operator has to set them right"
