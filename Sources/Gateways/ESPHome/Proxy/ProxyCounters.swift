/// The cases in which a bound was reached, or a client was disconnected.
package struct ProxyCounters: Hashable, Sendable {
  /// Clients that were accepted.
  package internal(set) var accepted = 0
  /// Clients beyond the limit.
  package internal(set) var refused = 0
  /// Clients that did not say hello in time, or were replaced by a newer one.
  package internal(set) var silent = 0
  /// Clients with a wrong key.
  package internal(set) var wrongKeys = 0
  /// Clients that violated the protocol in another way.
  package internal(set) var malformed = 0
  /// Clients that did not read.
  package internal(set) var slow = 0
  /// Batches of advertisements not sent to a client that read too slowly.
  package internal(set) var batchesDropped = 0
  /// Requests beyond the limit for one client.
  package internal(set) var requestsRefused = 0

  package init() {}
}
