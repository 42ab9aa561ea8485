import ATT

extension GATTServer {
  /// What an access is for.
  enum Access {
    case read
    case write
  }

  /// Why this client may not use an attribute; nil if it may. The order is permission, authorization, encryption, key
  /// size, authentication (Core 5.4, Vol 3, Part F, 4; Part C, 10.3.1).
  func refusal(_ access: Access, _ attribute: Attribute) -> ATTErrorCode? {
    let requirement: AccessRequirement
    switch access {
    case .read:
      guard let read = attribute.permissions.read else { return .readNotPermitted }
      requirement = read
    case .write:
      guard let write = attribute.permissions.write else { return .writeNotPermitted }
      requirement = write
    }
    if requirement.authorization && !security.isAuthorized { return .insufficientAuthorization }
    guard requirement.level > 1 else { return nil }
    // Without a key the client must pair, with one it must encrypt (Part C, 10.3.1, table 10.2).
    if security.level < 2 { return security.isBonded ? .insufficientEncryption : .insufficientAuthentication }
    if security.keySize < requirement.minimumKeySize { return .encryptionKeySizeTooShort }
    if security.level < requirement.level { return .insufficientAuthentication }
    return nil
  }
}
