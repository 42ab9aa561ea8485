/// A long term key in the form of mgmt (mgmt-api).
package struct ManagementLongTermKey: PacketParameters {
  package var device = ManagementAddress()
  /// 0 legacy unauthenticated, 1 legacy authenticated, 2 and 3 the same for Secure Connections, 4 debug.
  package var keyType: UInt8 = 0
  /// True if it is used while we are central.
  package var isCentral = false
  /// 7 to 16 octets.
  package var encryptionSize: UInt8 = 16
  /// Chosen with the key.
  package var encryptedDiversifier: UInt16 = 0
  /// Chosen with the key.
  package var randomNumber: UInt64 = 0
  /// 16 octets.
  package var value: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&device, &keyType, &isCentral, &encryptionSize, &encryptedDiversifier, &randomNumber)
    coder.octets(&value, count: 16)
  }
}

/// An identity resolving key in the form of mgmt (mgmt-api).
package struct ManagementIdentityResolvingKey: PacketParameters {
  package var device = ManagementAddress()
  /// 16 octets.
  package var value: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&device)
    coder.octets(&value, count: 16)
  }
}

/// A signature resolving key as mgmt gives it (mgmt-api).
package struct ManagementSignatureResolvingKey: PacketParameters {
  package var device = ManagementAddress()
  /// 0 ours, 1 theirs, 2 and 3 the same, authenticated.
  package var type: UInt8 = 0
  /// 16 octets.
  package var value: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&device, &type)
    coder.octets(&value, count: 16)
  }
}

/// Load Long Term Keys: replaces the kernel's whole list (mgmt-api).
package struct LoadLongTermKeys: ManagementCommand {
  package static let opcode: UInt16 = 0x0013
  /// All keys for the kernel.
  package var keys: [ManagementLongTermKey] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.groups(&keys, countedBy: UInt16.self) }
}

/// Load Identity Resolving Keys: replaces the kernel's whole list (mgmt-api).
package struct LoadIdentityResolvingKeys: ManagementCommand {
  package static let opcode: UInt16 = 0x0030
  /// All keys for the kernel.
  package var keys: [ManagementIdentityResolvingKey] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.groups(&keys, countedBy: UInt16.self) }
}

/// New Long Term Key (mgmt-api).
package struct NewLongTermKey: ManagementEventParameters {
  package static let code: UInt16 = 0x000A
  /// True if the key should be kept.
  package var storeHint = false
  package var key = ManagementLongTermKey()

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&storeHint, &key) }
}

/// New Identity Resolving Key (mgmt-api).
package struct NewIdentityResolvingKey: ManagementEventParameters {
  package static let code: UInt16 = 0x0018
  /// True if the key should be kept.
  package var storeHint = false
  /// 48 bits: the used address.
  package var resolvableAddress: UInt64 = 0
  /// The key, with the identity.
  package var key = ManagementIdentityResolvingKey()

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&storeHint)
    coder.number(&resolvableAddress, octets: 6)
    coder.fields(&key)
  }
}

/// New Signature Resolving Key (mgmt-api).
package struct NewSignatureResolvingKey: ManagementEventParameters {
  package static let code: UInt16 = 0x0019
  /// True if the key should be kept.
  package var storeHint = false
  package var key = ManagementSignatureResolvingKey()

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&storeHint, &key) }
}
