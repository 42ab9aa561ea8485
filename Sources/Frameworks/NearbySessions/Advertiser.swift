import BledClient

/// This side on the air: the channel on which it listens, its description, and its advertisement.
actor Advertiser {
  /// The peers whose invitations are accepted.
  enum Audience {
    case everyone
    /// Peers knowing the identifier, also while this side is not visible.
    case acquaintances
  }

  private let client: BledClient
  private let settings: NearbySettings
  /// Handles a channel opened by another peer.
  private let take: @Sendable (ChannelDescription) async -> Void
  /// True if a session's dialer may have to find this side again.
  private let isSought: @Sendable () async -> Bool

  private var acceptances: [Audience: Acceptance] = [:]
  private var lastCall = 0
  private var texts: PublishedTexts
  private(set) var listening: L2CAPPublish.Result?
  private var listener: Task<Void, Never>?
  private var service: UInt16?
  private(set) var advertisement: Int?
  /// The advertised service data.
  private var advertised: [UInt8] = []
  /// The changes to the channel, the description and the advertisement: of two at once one would be left behind.
  private let turns = Turns()
  private var hasStopped = false

  init(
    client: BledClient, settings: NearbySettings, isSought: @escaping @Sendable () async -> Bool,
    take: @escaping @Sendable (ChannelDescription) async -> Void
  ) {
    (self.client, self.settings, self.isSought, self.take) = (client, settings, isSought, take)
    texts = PublishedTexts(settings.information)
  }

  /// True if invitations are accepted.
  var isAccepting: Bool { acceptances.values.contains(where: \.isWanted) }

  /// Accepts invitations.
  /// - Parameter information: texts other than in the settings.
  func accept(from audience: Audience, _ information: [String: String]? = nil) async throws(BluetoothError) {
    let cancelled = GAPError.cancelled.error("the call was cancelled: its invitations are not accepted")
    guard !Task.isCancelled else { throw cancelled }
    lastCall += 1
    let call = lastCall
    acceptances[audience, default: Acceptance()].begin(call)
    if information != nil { texts.begin(call) }
    let result = await Task.outcome {
      await Result { () async throws(BluetoothError) in try await self.begin(information, call) }
    }
    guard let result else {
      acceptances[audience]?.cancel(call)
      texts.cancel(call)
      Task {
        await restoreInformation(after: call)
        await update()
      }
      throw cancelled
    }
    acceptances[audience]?.end(call)
    if let information { texts.settle(information) }
    try result.get()
  }

  /// Accepts no more invitations from some peers.
  func refuse(_ audience: Audience) async {
    acceptances[audience] = nil
    await update()
  }

  /// Accepts no more invitations, for good.
  func close() {
    acceptances = [:]
    hasStopped = true
  }

  /// Takes all off the air, after `close`.
  func withdraw() async {
    await turns.begin()
    defer { turns.end() }
    listener?.cancel()
    listener = nil
    if let advertisement { try? await client.stopAdvertising(advertisement) }
    if let service { try? await client.unpublish(service) }
    if let listening { try? await client.unpublishL2CAPChannel(listening.psm, adapter: listening.adapter) }
    (advertisement, service, listening) = (nil, nil, nil)
  }

  private func begin(_ information: [String: String]?, _ call: Int) async throws(BluetoothError) {
    await turns.begin()
    defer { turns.end() }
    if let information, texts.claim(call) { try await publish(information) }
    try await listen()
    try await renewAdvertisement()
  }

  // MARK: The channel and the description

  /// Withdraws a cancelled call's texts, unless another call has set its own meanwhile.
  private func restoreInformation(after call: Int) async {
    await turns.begin()
    defer { turns.end() }
    if let settled = texts.recall(call) { try? await publish(settled) }
  }

  private func publish(_ information: [String: String]) async throws(BluetoothError) {
    // Without a service a former description could not be published: then the same texts are not published either.
    guard texts.set(information) || service == nil else { return }
    if let service {
      self.service = nil
      try await client.unpublish(service)
    }
    try await publishDescription()
  }

  private var description: PeerDescription {
    PeerDescription(
      identifier: settings.identifier, revision: texts.revision,
      isInviting: acceptances[.everyone]?.isWanted == true, psm: listening?.psm ?? 0, name: settings.name,
      information: texts.information)
  }

  private func listen() async throws(BluetoothError) {
    guard !hasStopped else { return }
    guard listening == nil else {
      if service == nil { try await publishDescription() }
      return
    }
    let incoming = client.notifications(L2CAPIncoming.self)
    let published = try await client.publishL2CAPChannel(adapter: settings.adapter)
    listening = published
    do throws(BluetoothError) {
      try await publishDescription()
    } catch {
      listening = nil
      try? await client.unpublishL2CAPChannel(published.psm, adapter: published.adapter)
      throw error
    }
    listener = Task { [take] in
      do {
        for try await offered in incoming where offered.psm == published.psm { await take(offered) }
      } catch {}
    }
  }

  private func publishDescription() async throws(BluetoothError) {
    guard let listening else { return }
    let psm = [UInt8(truncatingIfNeeded: listening.psm), UInt8(truncatingIfNeeded: listening.psm >> 8)]
    service = try await client.publish(
      ServiceToPublish(
        uuid: settings.type.uuid,
        characteristics: [
          .init(uuid: ServiceType.descriptionUUID, properties: [.read], value: HexBytes(description.value)),
          .init(uuid: Self.psmUUID, properties: [.read], value: HexBytes(psm)),
        ], adapter: listening.adapter)
    ).handle
  }

  /// ABDD3056-28FA-441D-A470-55A75A52553A: the characteristic from which Core Bluetooth programs read a PSM.
  private static let psmUUID = BluetoothUUID(high: 0xABDD_3056_28FA_441D, low: 0xA470_55A7_5A52_553A)

  // MARK: The advertisement

  /// Advertises as long as invitations are accepted, or a session's dialer may have to find this side again; in a
  /// cancelled task without waiting for it.
  func update() async { await Task.outcome { await self.changeAdvertisement() } }

  private func changeAdvertisement() async {
    await turns.begin()
    defer { turns.end() }
    let isSought = await isSought()
    if isAccepting || isSought {
      try? await renewAdvertisement()
      return
    }
    guard let advertisement else { return }
    self.advertisement = nil
    try? await client.stopAdvertising(advertisement)
  }

  private func renewAdvertisement() async throws(BluetoothError) {
    guard !hasStopped else { return }
    let description = description
    guard advertised != description.serviceData || advertisement == nil else { return }
    advertised = description.serviceData
    if let advertisement {
      self.advertisement = nil
      try? await client.stopAdvertising(advertisement)
    }
    advertisement = try await client.advertise(
      .init(
        adapter: settings.adapter, services: [settings.type.uuid],
        serviceData: ["\(settings.type.uuid)": HexBytes(description.serviceData)])
    ).advertising
  }
}
