import Adapter
import Bluetooth
import HCI

/// Reads the capabilities of a controller just switched on, sets our random address if it has no public one, removes an
/// earlier owner's advertising sets, and enables subrating and short intervals if it can: that must precede the first
/// link. The kernel masks the events for these, for transferred trains, for responses to trains, and for watched
/// devices.
///
/// | State   | Input                          | Actions                                        |
/// |---------|--------------------------------|------------------------------------------------|
/// | asking  | the answer to the question     | `send` the next question, after the last `done` |
/// | asking  | a refusal of an optional one   | the same, and the least is assumed             |
/// | asking  | Clear Advertising Sets refused | of each handle the train is ended and the set removed, whether there is one or not |
/// | asking  | an invalid answer to an optional one | the same, and `warned`                   |
/// | asking  | the version, or its refusal    | the quirks of that model hold                  |
/// | asking  | invalid features               | `failed`                                       |
/// | asking  | no answer in time              | `failed`                                       |
///
/// A killed daemon leaves sets, and trains of periodic advertisements, which continue: until they are removed, their
/// handles are refused to others. The kernel's own are not among them, as the lifecycle has let it remove those before.
package struct SetUpMachine {
  package enum Action: Hashable {
    case send(CommandPacket)
    case done(ControllerProfile)
    case failed(String)
    /// A feature of the controller is not used.
    case warned(String)
  }

  /// The commands that change settings of the controller.
  package static let settings: Set<Opcode> = [
    SetEventMask.opcode, LESetEventMask.opcode, LESetHostFeature.opcode, LESetHostFeatureV2.opcode,
    LESetDefaultSubrate.opcode, LESetDefaultRateParameters.opcode,
  ]

  private var profile: ControllerProfile
  /// The table in which the model is looked up, as soon as it is known.
  private var quirks: QuirkTable?
  /// The command that the controller executes.
  package private(set) var slot = CommandSlot()
  private var questions: [CommandPacket]
  /// The last question.
  private var question: CommandPacket?

  /// Examines a controller of which the model is known, or is of no interest.
  package init(_ profile: ControllerProfile) {
    self.profile = profile
    questions = [
      CommandPacket(LEReadLocalSupportedFeatures()), CommandPacket(ReadLocalSupportedCommands()),
      CommandPacket(LEReadSupportedStates()), CommandPacket(LEReadFilterAcceptListSize()),
    ]
    let address = profile.address
    if address.kind == .random { questions.append(CommandPacket(LESetRandomAddress { $0.address = address.value })) }
  }

  /// Examines a controller, and asks for its model first.
  /// - Parameters:
  ///   - modalias: its name for drivers.
  ///   - quirks: where the model is looked up.
  package init(address: DeviceAddress, modalias: String, quirks: QuirkTable) {
    self.init(ControllerProfile(address: address))
    profile.model = QuirkTable.Model(modalias: modalias)
    self.quirks = quirks
    questions.insert(CommandPacket(ReadLocalVersionInformation()), at: 0)
  }

  /// When `tick` is due.
  package var deadline: Instant? { slot.deadline }

  package mutating func start(at now: Instant) -> [Action] { next(at: now) }

  package mutating func handle(_ event: HCIEvent, at now: Instant) -> [Action] {
    guard case .ours(let answer) = slot.receive(event, at: now) else {
      return slot.outstanding == nil ? next(at: now) : []
    }
    // Only the features are indispensable. A random address is refused while it is in use for advertising or scanning;
    // then it is set already.
    guard answer.status.isSuccess || answer.opcode != LEReadLocalSupportedFeatures.opcode else {
      return [.failed("it answered command 0x\(String(answer.opcode.rawValue, radix: 16)) with \(answer.status)")]
    }
    if !answer.status.isSuccess, answer.opcode == LEClearAdvertisingSets.opcode { questions += removals }
    if answer.status.isSuccess, let question, Self.settings.contains(answer.opcode) {
      profile.settings.append(question)
    }
    if answer.status.isSuccess, let complete = answer.complete {
      do {
        try record(complete)
      } catch {
        let words =
          "its answer to command 0x\(String(answer.opcode.rawValue, radix: 16)) could not be decoded: \(error)"
        guard answer.opcode != LEReadLocalSupportedFeatures.opcode else { return [.failed(words)] }
        adoptQuirks()
        return next(at: now) + [.warned("\(words); the controller is used without it")]
      }
    }
    adoptQuirks()
    return next(at: now)
  }

  /// The model was the first question: a controller that does not report it has the quirks of its modalias.
  private mutating func adoptQuirks() {
    if let quirks { profile.adopt(quirks) }
    quirks = nil
  }

  package mutating func tick(at now: Instant) -> [Action] {
    if slot.expire(at: now) != nil { return [.failed("it does not respond")] }
    return slot.outstanding == nil ? next(at: now) : []
  }

  private mutating func next(at now: Instant) -> [Action] {
    guard !questions.isEmpty else { return [.done(profile)] }
    guard slot.isFree else { return [] }
    let question = questions.removeFirst()
    self.question = question
    slot.send(question, at: now)
    return [.send(question)]
  }

  /// The commands to remove the sets one by one, with their trains.
  private var removals: [CommandPacket] {
    (0..<UInt8(clamping: profile.advertisingSets)).flatMap { handle in
      let end = profile.hasPeriodicAdvertising ? ExtendedFamily.periodicEnable(handle: handle, false) : []
      return (end + ExtendedFamily.forgetAdvertising(handle: handle)).map(\.packet)
    }
  }

  private mutating func record(_ complete: CommandComplete) throws(HCICodingError) {
    switch complete.opcode {
    case ReadLocalVersionInformation.opcode:
      profile.model.adopt(try complete.decoded(as: ReadLocalVersionInformation.self))
    case LEReadLocalSupportedFeatures.opcode:
      profile.features = try complete.decoded(as: LEReadLocalSupportedFeatures.self).value
      if profile.features.contains(.dataPacketLengthExtension) {
        questions.append(CommandPacket(LEReadMaximumDataLength()))
      }
      if profile.advertisesExtended {
        questions.append(CommandPacket(LEReadMaximumAdvertisingDataLength()))
        questions.append(CommandPacket(LEReadNumberOfSupportedAdvertisingSets()))
        questions.append(ExtendedFamily.advertisingDisable.packet)
        questions.append(CommandPacket(LEClearAdvertisingSets()))
      }
    case ReadLocalSupportedCommands.opcode:
      profile.commands = try complete.decoded(as: ReadLocalSupportedCommands.self).commands
      if profile.canSubrate || profile.canReceiveTrains || profile.hasPeriodicResponses || profile.canRespond {
        questions.append(CommandPacket(LESetEventMask { $0.mask = profile.eventMask }))
      }
      if profile.canSubrate { questions += Self.subrating }
      if profile.canResolve { questions.append(CommandPacket(LEReadResolvingListSize())) }
      if profile.mayShorten || profile.mayMonitor { questions.append(CommandPacket(LEReadAllLocalSupportedFeatures())) }
    case LEReadAllLocalSupportedFeatures.opcode:
      guard let all = try? complete.decoded(as: LEReadAllLocalSupportedFeatures.self), all.lastPage > 0 else { return }
      profile.moreFeatures = all.more
      if profile.canShorten || profile.canMonitor {
        questions.append(CommandPacket(LESetEventMask { $0.mask = profile.eventMask }))
      }
      if profile.canShorten { questions += Self.shortening(profile) }
      if profile.canMonitor { questions.append(CommandPacket(LEReadMonitoredAdvertisersListSize())) }
    case LEReadMinimumSupportedConnectionInterval.opcode:
      // Else the host's bit was refused, and was not set before.
      guard profile.moreFeatures.contains(.shorterConnectionIntervalsHostSupport),
        let read = try? complete.decoded(as: LEReadMinimumSupportedConnectionInterval.self)
      else { return }
      let shortest = max(3, UInt16(read.shortest))
      profile.shortestInterval = TimeUnits.rateUnits(shortest)
      questions.append(Self.rates(from: shortest))
    case LESetHostFeature.opcode where question == Self.hostSubrates:
      profile.features.insert(.connectionSubratingHostSupport)
    case LESetHostFeature.opcode, LESetHostFeatureV2.opcode:
      profile.moreFeatures.insert(.shorterConnectionIntervalsHostSupport)
    case LEReadResolvingListSize.opcode:
      profile.resolvingListSize = Int(try complete.decoded(as: LEReadResolvingListSize.self).value)
    case LEReadMonitoredAdvertisersListSize.opcode:
      profile.monitoredListSize = Int(try complete.decoded(as: LEReadMonitoredAdvertisersListSize.self).value)
    case LEReadSupportedStates.opcode:
      profile.states = try complete.decoded(as: LEReadSupportedStates.self).value
    case LEReadFilterAcceptListSize.opcode:
      profile.acceptListSize = max(1, Int(try complete.decoded(as: LEReadFilterAcceptListSize.self).value))
    case LEReadMaximumAdvertisingDataLength.opcode:
      let length = Int(try complete.decoded(as: LEReadMaximumAdvertisingDataLength.self).value)
      profile.advertisingDataLength = min(max(31, length), 1650)
    case LEReadNumberOfSupportedAdvertisingSets.opcode:
      let count = Int(try complete.decoded(as: LEReadNumberOfSupportedAdvertisingSets.self).value)
      profile.advertisingSets = min(max(1, count), 240)
    case LEReadMaximumDataLength.opcode:
      let length = Int(try complete.decoded(as: LEReadMaximumDataLength.self).txOctets)
      profile.maximumDataLength = min(max(27, length), 251)
    default: break
    }
  }

  /// Makes subrating usable. A peripheral may have everything the kernel would grant as a longer interval or a higher
  /// latency, within the limit of 500 for factor × (latency + 1).
  private static var subrating: [CommandPacket] {
    [
      hostSubrates,
      CommandPacket(
        LESetDefaultSubrate {
          $0.subrateMax = 50
          $0.maximumLatency = 9
        }),
    ]
  }

  private static let hostSubrates = CommandPacket(
    LESetHostFeature {
      $0.bit = 38
      $0.value = 1
    })

  /// Makes short intervals usable.
  private static func shortening(_ profile: ControllerProfile) -> [CommandPacket] {
    let older = CommandPacket(
      LESetHostFeature {
        $0.bit = 73
        $0.value = 1
      })
    let newer = CommandPacket(
      LESetHostFeatureV2 {
        $0.bit = 73
        $0.value = 1
      })
    return [
      profile.has(octet: 47, bits: 0x10) ? newer : older, CommandPacket(LEReadMinimumSupportedConnectionInterval()),
    ]
  }

  /// Lets peripherals have every interval up to 30 ms, with the factors and latencies of `subrating`: with longer ones
  /// the longest timeout would be too short (Core 6.2, Vol 4, Part E, 7.8.155).
  private static func rates(from shortest: UInt16) -> CommandPacket {
    CommandPacket(
      LESetDefaultRateParameters {
        $0.rate.intervalMin = shortest
        $0.rate.intervalMax = 240
        $0.rate.subrateMax = 50
        $0.rate.maximumLatency = 9
      })
  }
}

extension QuirkTable.Model {
  /// Adopts a controller's description of its version.
  package mutating func adopt(_ version: ReadLocalVersionInformation.ReturnParameters) {
    company = version.companyIdentifier
    (hciRevision, revision) = (version.hciSubversion, version.lmpSubversion)
  }
}
