import BledRPC
import Bluetooth

extension Session {
  /// The session's costs until now.
  func description(ofCostsAt now: Instant) -> SessionDescription.Costs {
    var description = SessionDescription.Costs()
    description.requests = costs.requests
    description.requestsFailed = costs.requestsFailed
    description.scanTime = costs.scanTime(at: now).inSeconds
    description.reports = costs.reports
    description.reportsCoalesced = outbox.coalescedReports
    description.reportsDropped = outbox.droppedReports
    description.linkTime = costs.linkTime(at: now).inSeconds
    description.values = costs.values
    description.valuesRefused = outbox.refusedValues
    description.packetsLost = costs.packetsLost
    description.linksSlowed = slowedLinks
    description.queueOctets = outbox.waiting
    return description
  }
}
