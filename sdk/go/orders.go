package purveyor

import (
	"context"
	"iter"
)

// OrdersService is about orders.
type OrdersService struct{ client *Client }

// Report reports an order that you have sold, and that the customer has paid.
func (s *OrdersService) Report(ctx context.Context, body ReportRequest, options ...Option) (*ReportReply, error) {
	return call(ctx, s.client, opReportOrder, nil, none{}, &body, options...)
}

// List reads one page of orders, the newest first unless the query says otherwise.
func (s *OrdersService) List(ctx context.Context, query ListOrdersQuery, options ...Option) (*OrderList, error) {
	return call(ctx, s.client, opListOrders, nil, query, nil, options...)
}

// All ranges over the orders of all pages.
func (s *OrdersService) All(ctx context.Context, query ListOrdersQuery, options ...Option) iter.Seq2[Order, error] {
	return pages(ctx, func(ctx context.Context, cursor string) ([]Order, string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		list, err := s.List(ctx, query, options...)
		if err != nil {
			return nil, "", err
		}
		return list.Orders, list.NextCursor, nil
	})
}

// Sync ranges over the orders that were changed at or after a time, in the order of their
// changes. Since 0 it ranges over all. Keep the UpdatedOn of the last order that you have
// stored: it is the since of the next Sync. The orders of that very time come again then.
func (s *OrdersService) Sync(ctx context.Context, since UnixMillis, query ListOrdersQuery, options ...Option) iter.Seq2[Order, error] {
	query.UpdatedSince = max(since, 1) // 0 would be left out, and the newest would come first
	if query.Limit == 0 {
		query.Limit = longestPage
	}
	return s.All(ctx, query, options...)
}

// Get reads an order.
func (s *OrdersService) Get(ctx context.Context, orderID string, options ...Option) (*OrderReply, error) {
	return call(ctx, s.client, opGetOrder, []string{orderID}, none{}, nil, options...)
}

// GetByExternalID reads the order that has an external id.
func (s *OrdersService) GetByExternalID(ctx context.Context, externalOrderID string, options ...Option) (*OrderReply, error) {
	return call(ctx, s.client, opGetOrderByExternalID, []string{externalOrderID}, none{}, nil, options...)
}

// Ping reads the status of an order.
func (s *OrdersService) Ping(ctx context.Context, orderID string, options ...Option) (*PingReply, error) {
	return call(ctx, s.client, opPingOrder, []string{orderID}, none{}, nil, options...)
}

// Timeline reads what has happened to an order, oldest first.
func (s *OrdersService) Timeline(ctx context.Context, orderID string, query GetOrderTimelineQuery, options ...Option) (*TimelineReply, error) {
	return call(ctx, s.client, opGetOrderTimeline, []string{orderID}, query, nil, options...)
}

// UpdateMetadata changes the metadata of an order. A nil value removes its name.
func (s *OrdersService) UpdateMetadata(ctx context.Context, orderID string, body UpdateMetadataRequest, options ...Option) (*UpdateMetadataReply, error) {
	return call(ctx, s.client, opUpdateOrderMetadata, []string{orderID}, none{}, &body, options...)
}

// Confirm makes a paid order processed, and takes its stock. It may be repeated.
func (s *OrdersService) Confirm(ctx context.Context, orderID string, body ConfirmRequest, options ...Option) (*AdvanceReply, error) {
	return call(ctx, s.client, opConfirmOrder, []string{orderID}, none{}, &body, append(options, harmless)...)
}

// MarkReady says that a pickup order waits for its customer. It may be repeated.
func (s *OrdersService) MarkReady(ctx context.Context, orderID string, body ReadyForPickupRequest, options ...Option) (*AdvanceReply, error) {
	return call(ctx, s.client, opMarkReadyForPickup, []string{orderID}, none{}, &body, append(options, harmless)...)
}

// MarkPickedUp says that the customer has the goods. It may be repeated.
func (s *OrdersService) MarkPickedUp(ctx context.Context, orderID string, body PickedUpRequest, options ...Option) (*AdvanceReply, error) {
	return call(ctx, s.client, opMarkPickedUp, []string{orderID}, none{}, &body, append(options, harmless)...)
}

// Cancel cancels an order.
func (s *OrdersService) Cancel(ctx context.Context, orderID string, body CancelRequest, options ...Option) (*CancelReply, error) {
	return call(ctx, s.client, opCancelOrder, []string{orderID}, none{}, &body, options...)
}

// Refund gives money of a card payment back.
func (s *OrdersService) Refund(ctx context.Context, orderID string, body RefundRequest, options ...Option) (*RefundReply, error) {
	return call(ctx, s.client, opRefundOrder, []string{orderID}, none{}, &body, options...)
}

// Tracking reads how far an order is on its way.
func (s *OrdersService) Tracking(ctx context.Context, orderID string, options ...Option) (*TrackingReply, error) {
	return call(ctx, s.client, opGetOrderTracking, []string{orderID}, none{}, nil, options...)
}

// DriverLocation asks the courier where it is.
func (s *OrdersService) DriverLocation(ctx context.Context, orderID string, options ...Option) (*DriverLocationReply, error) {
	return call(ctx, s.client, opGetDriverLocation, []string{orderID}, none{}, nil, options...)
}
