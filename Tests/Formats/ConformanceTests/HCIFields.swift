import Bluetooth
import HCI

/// The fields that we read from a packet, under the names that the vectors use.
enum HCIFields {
  static func of(_ packet: HCIPacket) throws -> [String: JSONValue] {
    switch packet {
    case .command(let packet):
      guard let type = KnownCommands.type(of: packet.opcode) else { return [:] }
      return of(command: try type.init(decoding: packet))
    case .acl(let packet):
      return [
        "connection_handle": n(packet.handle), "pb_flag": n(packet.boundary), "bc_flag": n(packet.broadcast),
        "data_total_length": n(packet.data.count), "data": hex(Array(packet.data)),
      ]
    case .event(let packet): return try of(event: HCIEvent(decoding: packet))
    }
  }

  private static func n(_ value: some BinaryInteger) -> JSONValue { .number(Double(value)) }
  private static func hex(_ octets: [UInt8]) -> JSONValue { .string(Hex.encode(octets)) }
  private static func hex(_ value: UInt64) -> JSONValue {
    hex((0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
  }
  private static func flag(_ value: Bool) -> JSONValue { n(value ? 1 : 0) }
  private static func address(_ value: UInt64, suffix: String = "") -> JSONValue {
    .string("\(DeviceAddress(value: value, kind: .random))\(suffix)")
  }
  private static func peer(_ address: HCIAddress) -> JSONValue {
    self.address(address.value, suffix: address.type == .public || address.type == .publicIdentity ? "/P" : "")
  }

  private static func of(command: any HCICommand) -> [String: JSONValue] {
    switch command {
    case let command as LESetRandomAddress: ["random_address": address(command.address)]
    case let command as LESetScanParameters:
      [
        "le_scan_type": flag(command.isActive), "le_scan_interval": n(command.interval),
        "le_scan_window": n(command.window), "own_address_type": n(command.ownAddressType.rawValue),
        "scanning_filter_policy": n(command.filterPolicy),
      ]
    case let command as LESetScanEnable:
      ["le_scan_enable": flag(command.isEnabled), "filter_duplicates": flag(command.filtersDuplicates)]
    case let command as LESetAdvertisingParameters:
      [
        "advertising_interval_min": n(command.intervalMin), "advertising_interval_max": n(command.intervalMax),
        "advertising_type": n(command.type.rawValue), "own_address_type": n(command.ownAddressType.rawValue),
        "peer_address_type": n(command.peer.type.rawValue), "peer_address": peer(command.peer),
        "advertising_channel_map": n(command.channelMap), "advertising_filter_policy": n(command.filterPolicy),
      ]
    case let command as LESetAdvertisingData: ["advertising_data": hex(command.data)]
    case let command as LESetScanResponseData: ["scan_response_data": hex(command.data)]
    case let command as LESetAdvertisingEnable: ["advertising_enable": flag(command.isEnabled)]
    case let command as LECreateConnection:
      [
        "le_scan_interval": n(command.scanInterval), "le_scan_window": n(command.scanWindow),
        "initiator_filter_policy": n(command.filterPolicy), "peer_address_type": n(command.peer.type.rawValue),
        "peer_address": peer(command.peer), "own_address_type": n(command.ownAddressType.rawValue),
        "connection_interval_min": n(command.intervalMin), "connection_interval_max": n(command.intervalMax),
        "max_latency": n(command.latency), "supervision_timeout": n(command.supervisionTimeout),
      ]
    case let command as LESetExtendedScanParameters:
      [
        "own_address_type": n(command.ownAddressType.rawValue), "scanning_phys": n(command.phys),
        "scan_types": .array(command.scans.map { flag($0.isActive) }),
        "scan_intervals": .array(command.scans.map { n($0.interval) }),
        "scan_windows": .array(command.scans.map { n($0.window) }),
      ]
    case let command as LESetExtendedScanEnable:
      [
        "enable": flag(command.isEnabled), "filter_duplicates": n(command.filtersDuplicates),
        "duration": n(command.duration), "period": n(command.period),
      ]
    case let command as LESetExtendedAdvertisingParameters:
      [
        "advertising_handle": n(command.advertisingHandle),
        "advertising_event_properties": n(command.properties.rawValue),
        "primary_advertising_interval_min": n(command.intervalMin),
        "primary_advertising_interval_max": n(command.intervalMax),
        "primary_advertising_channel_map": n(command.channelMap),
        "own_address_type": n(command.ownAddressType.rawValue), "advertising_tx_power": n(command.txPower),
        "primary_advertising_phy": n(command.primaryPHY), "secondary_advertising_phy": n(command.secondaryPHY),
        "secondary_advertising_max_skip": n(command.secondaryMaxSkip), "advertising_sid": n(command.sid),
        "scan_request_notification_enable": flag(command.notifiesScanRequests),
      ]
    case let command as LESetExtendedAdvertisingData:
      [
        "advertising_handle": n(command.fragment.advertisingHandle),
        "operation": n(command.fragment.operation.rawValue),
        "fragment_preference": n(command.fragment.fragmentPreference),
        "advertising_data": hex(command.fragment.data),
      ]
    case let command as LESetExtendedAdvertisingEnable:
      [
        "enable": flag(command.isEnabled),
        "advertising_handles": .array(command.sets.map { n($0.advertisingHandle) }),
        "durations": .array(command.sets.map { n($0.duration) }),
        "max_extended_advertising_events": .array(command.sets.map { n($0.maximumEvents) }),
      ]
    case let command as LEExtendedCreateConnection:
      [
        "initiator_filter_policy": n(command.filterPolicy), "peer_address": peer(command.peer),
        "initiating_phys": n(command.phys),
        "scan_intervals": .array(command.initiations.map { n($0.scanInterval) }),
        "connection_interval_mins": .array(command.initiations.map { n($0.intervalMin) }),
        "connection_interval_maxs": .array(command.initiations.map { n($0.intervalMax) }),
        "supervision_timeouts": .array(command.initiations.map { n($0.supervisionTimeout) }),
      ]
    case let command as LEAddDeviceToFilterAcceptList:
      ["address_type": n(command.device.type.rawValue), "address": peer(command.device)]
    case let command as Disconnect:
      ["connection_handle": n(command.handle), "reason": n(command.reason.rawValue)]
    case let command as LEConnectionUpdate:
      [
        "connection_handle": n(command.handle), "connection_interval_min": n(command.intervalMin),
        "connection_interval_max": n(command.intervalMax), "max_latency": n(command.latency),
        "supervision_timeout": n(command.supervisionTimeout), "min_ce_length": n(command.minimumCELength),
      ]
    case let command as LEReadRemoteFeatures: ["connection_handle": n(command.handle)]
    case let command as LESetDataLength:
      [
        "connection_handle": n(command.handle), "tx_octets": n(command.txOctets), "tx_time": n(command.txTime),
      ]
    case let command as LESetPHY:
      [
        "connection_handle": n(command.handle), "all_phys": n(command.allPHYs), "tx_phys": n(command.txPHYs),
        "rx_phys": n(command.rxPHYs), "phy_options": n(command.options),
      ]
    case let command as LEEnableEncryption:
      [
        "connection_handle": n(command.handle), "random_number": hex(command.randomNumber),
        "encrypted_diversifier": n(command.encryptedDiversifier), "long_term_key": hex(command.longTermKey),
      ]
    case let command as LELongTermKeyRequestReply:
      ["connection_handle": n(command.handle), "long_term_key": hex(command.longTermKey)]
    default: [:]
    }
  }

  private static func of(event: HCIEvent) throws -> [String: JSONValue] {
    switch event {
    case .commandComplete(let event):
      try of(returnedBy: event).merging([
        "num_hci_command_packets": n(event.credits), "command_opcode": n(event.opcode.rawValue),
      ]) { $1 }
    case .commandStatus(let event):
      [
        "status": n(event.status.rawValue), "num_hci_command_packets": n(event.credits),
        "command_opcode": n(event.opcode.rawValue),
      ]
    case .disconnectionComplete(let event):
      [
        "status": n(event.status.rawValue), "connection_handle": n(event.handle), "reason": n(event.reason.rawValue),
      ]
    case .encryptionChange(let event):
      [
        "status": n(event.status.rawValue), "connection_handle": n(event.handle), "encryption_enabled": n(event.mode),
      ]
    case .readRemoteVersionInformationComplete(let event):
      [
        "connection_handle": n(event.handle), "version": n(event.version),
        "manufacturer_name": n(event.companyIdentifier), "subversion": n(event.subversion),
      ]
    case .numberOfCompletedPackets(let event):
      [
        "connection_handles": .array(event.links.map { n($0.handle) }),
        "num_completed_packets": .array(event.links.map { n($0.packets) }),
      ]
    case .leConnectionComplete(let event):
      [
        "status": n(event.status.rawValue), "connection_handle": n(event.handle), "role": n(event.role),
        "peer_address_type": n(event.peer.type.rawValue), "peer_address": peer(event.peer),
        "connection_interval": n(event.interval), "peripheral_latency": n(event.latency),
        "supervision_timeout": n(event.supervisionTimeout), "central_clock_accuracy": n(event.centralClockAccuracy),
      ]
    case .leEnhancedConnectionComplete(let event):
      [
        "status": n(event.status.rawValue), "connection_handle": n(event.handle), "role": n(event.role),
        "peer_address": peer(event.peer), "connection_interval": n(event.interval),
        "local_resolvable_private_address": address(event.localResolvablePrivateAddress),
        "peer_resolvable_private_address": address(event.peerResolvablePrivateAddress),
        "peripheral_latency": n(event.latency), "supervision_timeout": n(event.supervisionTimeout),
      ]
    case .leConnectionUpdateComplete(let event):
      [
        "status": n(event.status.rawValue), "connection_handle": n(event.handle),
        "connection_interval": n(event.interval), "peripheral_latency": n(event.latency),
        "supervision_timeout": n(event.supervisionTimeout),
      ]
    case .leReadRemoteFeaturesComplete(let event):
      ["connection_handle": n(event.handle), "le_features": hex(event.features.rawValue)]
    case .leLongTermKeyRequest(let event):
      [
        "connection_handle": n(event.handle), "random_number": hex(event.randomNumber),
        "encryption_diversifier": n(event.encryptedDiversifier),
      ]
    case .leRemoteConnectionParameterRequest(let event):
      [
        "connection_handle": n(event.handle), "interval_min": n(event.intervalMin),
        "interval_max": n(event.intervalMax), "max_latency": n(event.latency), "timeout": n(event.supervisionTimeout),
      ]
    case .lePHYUpdateComplete(let event):
      ["connection_handle": n(event.handle), "tx_phy": n(event.tx), "rx_phy": n(event.rx)]
    case .leAdvertisingSetTerminated(let event):
      [
        "status": n(event.status.rawValue), "advertising_handle": n(event.advertisingHandle),
        "connection_handle": n(event.handle), "num_completed_extended_advertising_events": n(event.completedEvents),
      ]
    case .leAdvertisingReport(let event):
      [
        "reports": .array(
          event.reports.map {
            .object([
              "event_type": n($0.eventType), "address_type": n($0.address.type.rawValue), "address": peer($0.address),
              "data": hex($0.data), "rssi": n($0.rssi),
            ])
          })
      ]
    case .leExtendedAdvertisingReport(let event):
      [
        "reports": .array(
          event.reports.map {
            .object([
              "event_type": n($0.eventType.rawValue), "address_type": n($0.address.type.rawValue),
              "address": peer($0.address), "primary_phy": n($0.primaryPHY), "secondary_phy": n($0.secondaryPHY),
              "advertising_sid": n($0.sid), "tx_power": n($0.txPower), "rssi": n($0.rssi),
              "periodic_advertising_interval": n($0.periodicAdvertisingInterval),
              "direct_address_type": n($0.directAddress.type.rawValue), "direct_address": peer($0.directAddress),
              "data": hex($0.data),
            ])
          })
      ]
    default: [:]
    }
  }

  private static func of(returnedBy event: CommandComplete) throws -> [String: JSONValue] {
    guard KnownCommands.type(of: event.opcode) != nil else { return [:] }
    guard event.status.isSuccess else { return ["status": n(event.status.rawValue)] }
    switch event.opcode {
    case ReadLocalVersionInformation.opcode:
      let value = try event.decoded(as: ReadLocalVersionInformation.self)
      return ["hci_version": n(value.hciVersion), "company_identifier": n(value.companyIdentifier)]
    case ReadLocalSupportedCommands.opcode:
      return ["supported_commands": hex(try event.decoded(as: ReadLocalSupportedCommands.self).commands)]
    case ReadBufferSize.opcode:
      let value = try event.decoded(as: ReadBufferSize.self)
      return [
        "hc_acl_data_packet_length": n(value.aclDataPacketLength),
        "hc_total_num_acl_data_packets": n(value.aclDataPackets),
        "hc_total_num_synchronous_data_packets": n(value.synchronousDataPackets),
      ]
    case ReadBDADDR.opcode:
      return ["bd_addr": address(try event.decoded(as: ReadBDADDR.self).address, suffix: "/P")]
    case LEReadBufferSize.opcode:
      let value = try event.decoded(as: LEReadBufferSize.self)
      return [
        "le_acl_data_packet_length": n(value.aclDataPacketLength),
        "total_num_le_acl_data_packets": n(value.aclDataPackets),
      ]
    case LEReadLocalSupportedFeatures.opcode:
      return ["le_features": hex(try event.decoded(as: LEReadLocalSupportedFeatures.self).value.rawValue)]
    case LEReadSupportedStates.opcode:
      return ["le_states": hex(try event.decoded(as: LEReadSupportedStates.self).value.rawValue)]
    case LEReadFilterAcceptListSize.opcode:
      return ["filter_accept_list_size": n(try event.decoded(as: LEReadFilterAcceptListSize.self).value)]
    case LESetExtendedAdvertisingParameters.opcode:
      return ["selected_tx_power": n(try event.decoded(as: LESetExtendedAdvertisingParameters.self).value)]
    case LELongTermKeyRequestReply.opcode:
      return ["connection_handle": n(try event.decoded(as: LELongTermKeyRequestReply.self).value)]
    default: return ["status": n(event.status.rawValue)]
    }
  }
}
