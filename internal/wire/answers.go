package wire

// Encode is an answer as it is sent. What is passed here always encodes.
func Encode(v any) []byte { return appendJSON(nil, v) }
