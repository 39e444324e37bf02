package commerce

import "encoding/base64"

// StandardSecret is a secret for webhooks in the form of Standard Webhooks, which its libraries
// take as it is. The caller draws the key.
func StandardSecret(key [32]byte) string {
	return "whsec_" + base64.StdEncoding.EncodeToString(key[:])
}
