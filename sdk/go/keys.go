package purveyor

import "context"

// KeysService is about your API keys. The value of a key is in one answer only: if that
// answer is lost, revoke the key, and make another one.
type KeysService struct{ client *Client }

// List lists your keys, newest first. The list has no pages.
func (s *KeysService) List(ctx context.Context, options ...Option) (*KeyList, error) {
	return call(ctx, s.client, opListKeys, nil, none{}, nil, options...)
}

// Create makes a key.
func (s *KeysService) Create(ctx context.Context, body NewKey, options ...Option) (*IssuedKey, error) {
	return call(ctx, s.client, opMakeKey, nil, none{}, &body, options...)
}

// Rotate replaces a key.
func (s *KeysService) Rotate(ctx context.Context, keyID string, body RotateRequest, options ...Option) (*RotatedKey, error) {
	return call(ctx, s.client, opRotateKey, []string{keyID}, none{}, &body, options...)
}

// Revoke ends a key. It may be repeated.
func (s *KeysService) Revoke(ctx context.Context, keyID string, options ...Option) (*KeyReply, error) {
	return call(ctx, s.client, opRevokeKey, []string{keyID}, none{}, nil, append(options, harmless)...)
}
