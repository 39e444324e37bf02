package backoffice

import (
	"purveyor/internal/commerce"
	"purveyor/internal/site"
)

// reasonWords explain a reason to look at an order.
type reasonWords struct {
	Title string
	Means string // what is wrong, and what staff can find out
	// Next is the action that is the usual next step; empty: it happens outside of this
	// service, and staff resolve the reason once it is done.
	Next string
	Step string // the next step as a sentence
}

// reasonsInWords has every code.
var reasonsInWords = map[commerce.AttentionCode]reasonWords{
	commerce.AttentionTwoCouriers: {"Two couriers", "A courier that had cancelled has the goods after all, and another one may be on the way",
		doNote, "Call the courier's provider, and write down what was agreed"},
	commerce.AttentionGoodsWithCourier: {"Goods are with a courier", "The courier has goods that the customer will not get",
		doNote, "Ask the courier's provider to bring them back, and write down what was agreed"},
	commerce.AttentionNotCancelled: {"Courier not cancelled", "The order is cancelled, but the courier could not be cancelled and may still come",
		doNote, "Keep the goods when the courier comes, or cancel with the provider"},
	commerce.AttentionGoodsReturning: {"Goods come back", "The courier is on the way back to the store with the goods",
		"", "Wait for the goods, then decide about the order"},
	commerce.AttentionDisputed: {"Payment disputed", "The customer's bank disputes the payment",
		"", "Answer the dispute at the payment processor before its deadline"},
	commerce.AttentionSecondPayment: {"Paid twice", "The customer has paid a second time, which this order does not count",
		"", "Give the second payment back at the payment processor"},
	commerce.AttentionPaymentMismatch: {"Wrong amount paid", "The customer paid another amount than the total, so the order does not count as paid",
		doRefund, "Give the money back, and have the customer order again"},
	commerce.AttentionRefundAfterAll: {"Refunded after all", "A refund that had been given up was made, so money may have gone back twice",
		"", "Compare with the payment processor"},
	commerce.AttentionRefundUnknown: {"Refund unclear", "The payment processor did not answer, so the refund may or may not have been made",
		"", "Look at the payment processor. If nothing was refunded, refund again"},
	commerce.AttentionRefundFailed: {"Refund came back", "The bank gave the refund back, so the customer has not got the money",
		doRefund, "Refund again, or pay the customer in another way"},
	commerce.AttentionRefundDue: {"Refund due", "The order will not be fulfilled, and money of it is still here",
		doRefund, "Refund what is left"},
	commerce.AttentionRefundRequested: {"Refund requested", "The customer's refund waits for a decision",
		doRefund, "Refund the order, or decline on its page"},
	commerce.AttentionInsufficientStock: {"Not enough stock", "The order is paid, but cannot be confirmed because products are missing",
		doConfirm, "Count the stock, then confirm; or cancel and refund"},
	commerce.AttentionCourierGaveUp: {"No courier delivers it", "The last courier that was tried does not deliver, and no other one is looked for",
		doDispatch, "Find another courier, or cancel"},
	commerce.AttentionNotDispatched: {"No courier yet", "No courier has taken the order so far; the search goes on by itself",
		doDispatch, "Wait for the next try, or find another courier"},
	commerce.AttentionProviderRefusesUs: {"Provider refuses us", "A provider does not accept our credentials, so it cannot be used",
		"", "Check the credentials of the provider in the settings of the service"},
	commerce.AttentionOutOfRadius: {"Outside the radius", "The address lies further from the store than the store delivers",
		doNote, "Check the address with the customer, or cancel"},
	commerce.AttentionMailNotSent: {"Mail not sent", "A mail to the customer was kept here because of a limit",
		doNote, "Tell the customer in another way"},
	commerce.AttentionGoodsReturned: {"Goods came back", "The courier brought the goods back to the store",
		doCancel, "Cancel the order, which also puts the goods back into stock, or agree on another delivery"},
}

// wordsOfReason are the words of a code. Those of an unknown one say its name.
func wordsOfReason(code commerce.AttentionCode) reasonWords {
	if w, known := reasonsInWords[code]; known {
		return w
	}
	return reasonWords{Title: site.Word(string(code)), Means: "Look at the order", Step: "Look at the order"}
}
