import HCI

/// The trains that a controller follows, and the one that it searches for.
final class TrainSyncs {
  private unowned let controller: VirtualController
  private var sought: LEPeriodicAdvertisingCreateSync?
  private var syncs: [UInt16: TrainSync] = [:]

  init(of controller: VirtualController) { self.controller = controller }

  private var model: ControllerModel { controller.model }
  /// The attempt to follow the sought train.
  private var attempt: TrainSync? { syncs.values.first { !$0.isEstablished && $0.origin == .search } }

  func reset() {
    sought = nil
    for sync in syncs.values { sync.end() }
    syncs = [:]
  }

  // MARK: - Commands

  /// - Returns: the answer behind its status; nil for a command about something else.
  func execute(_ packet: CommandPacket) throws(Refusal) -> [UInt8]? {
    guard model.features.contains(.periodicAdvertising) else { return nil }
    switch packet.opcode {
    case LEPeriodicAdvertisingCreateSync.opcode: try search(packet.decoded())
    case LEPeriodicAdvertisingCreateSyncCancel.opcode:
      guard sought != nil else { throw Refusal(.commandDisallowed) }
    case LEPeriodicAdvertisingTerminateSync.opcode:
      let sync = try established((packet.decoded() as LEPeriodicAdvertisingTerminateSync).handle)
      sync.end()
      syncs[sync.handle] = nil
    default: return model.features.contains(.periodicResponsesScanner) ? try executeSubevents(packet) : nil
    }
    return []
  }

  private func search(_ wanted: LEPeriodicAdvertisingCreateSync) throws(Refusal) {
    guard sought == nil else { throw Refusal(.commandDisallowed) }
    // Neither the periodic advertiser list nor the filter for equal data.
    guard wanted.options & 5 == 0 else { throw Refusal(.unsupportedFeatureOrParameterValue) }
    guard wanted.sid < 16, wanted.skip <= 499, (10...0x4000).contains(wanted.timeout) else {
      throw Refusal(.invalidHCICommandParameters)
    }
    if syncs.values.contains(where: { $0.information.address == wanted.advertiser && $0.information.sid == wanted.sid })
    {
      throw Refusal(.connectionAlreadyExists)
    }
    guard syncs.count < model.trains else { throw Refusal(.memoryCapacityExceeded) }
    sought = wanted
  }

  /// The search ends after the answer to its cancellation, if there was one.
  func cancelled() {
    guard let wanted = sought else { return }
    sought = nil
    if let attempt {
      syncs[attempt.handle] = nil
      attempt.end()
      return controller.tell(attempt.outcome(.operationCancelledByHost))
    }
    let event = LEPeriodicAdvertisingSyncEstablished {
      ($0.status, $0.sid, $0.advertiser) = (HCIStatus(.operationCancelledByHost), wanted.sid, wanted.advertiser)
    }
    controller.tell(
      controller.reportsSubevents
        ? .lePeriodicAdvertisingSyncEstablishedV2(LEPeriodicAdvertisingSyncEstablishedV2 { $0.established = event })
        : .lePeriodicAdvertisingSyncEstablished(event))
  }

  private func executeSubevents(_ packet: CommandPacket) throws(Refusal) -> [UInt8]? {
    switch packet.opcode {
    case LESetPeriodicSyncSubevent.opcode:
      let wanted: LESetPeriodicSyncSubevent = try packet.decoded()
      let sync = try established(wanted.syncHandle)
      let count = sync.information.subevents.count
      guard !wanted.subevents.isEmpty, wanted.subevents.allSatisfy({ $0 < count }) else {
        throw Refusal(.invalidHCICommandParameters)
      }
      sync.chosen = Set(wanted.subevents)
      return wanted.syncHandle.octets
    case LESetPeriodicAdvertisingResponseData.opcode:
      let response: LESetPeriodicAdvertisingResponseData = try packet.decoded()
      let sync = try established(response.syncHandle)
      guard sync.information.subevents.count > 0, let train = sync.train else { throw Refusal(.commandDisallowed) }
      try train.subevents.respond(response, from: controller)
      return response.syncHandle.octets
    default: return nil
    }
  }

  /// A train that is followed.
  func established(_ handle: UInt16) throws(Refusal) -> TrainSync {
    guard let sync = syncs[handle], sync.isEstablished else { throw Refusal(.unknownAdvertisingIdentifier) }
    return sync
  }

  // MARK: - Trains

  /// An advertisement was received that may announce the sought train.
  func heard(_ advertisement: Advertisement) {
    guard let sought, attempt == nil, let train = advertisement.train, advertisement.address == sought.advertiser,
      advertisement.sid == sought.sid
    else { return }
    begin(train, .search, timeout: sought.timeout, reports: sought.options & 2 == 0)
  }

  /// A link's device has transferred a train; one that is followed is ignored.
  func transferred(
    _ train: TrainInformation, serviceData: UInt16, over link: ConnectionHandle,
    _ wanted: LESetPeriodicAdvertisingSyncTransferParameters
  ) {
    guard syncs.count < model.trains, !syncs.values.contains(where: { $0.information.number == train.number }) else {
      return
    }
    begin(train, .transfer(link, serviceData: serviceData), timeout: wanted.timeout, reports: wanted.mode != 1)
  }

  /// - Parameter timeout: in 10 ms.
  private func begin(_ train: TrainInformation, _ origin: TrainSync.Origin, timeout: UInt16, reports: Bool) {
    let handle = (0...).first { syncs[$0] == nil } ?? 0
    let sync = TrainSync(
      handle, train, origin, timeout: TimeUnits.supervisionUnits(timeout), reports: reports, of: self, in: controller)
    syncs[handle] = sync
    sync.begin()
  }

  /// The attempt to follow a train has an outcome.
  func established(_ sync: TrainSync, _ status: HCIErrorCode) {
    if sync.origin == .search { sought = nil }
    controller.tell(sync.outcome(status))
  }

  /// A train is not received any longer, or has not been.
  func lose(_ sync: TrainSync) {
    guard syncs[sync.handle] === sync else { return }
    syncs[sync.handle] = nil
    sync.end()
    guard sync.isEstablished else { return established(sync, .connectionFailedToBeEstablished) }
    controller.tell(.lePeriodicAdvertisingSyncLost(LEPeriodicAdvertisingSyncLost { $0.handle = sync.handle }))
  }
}
