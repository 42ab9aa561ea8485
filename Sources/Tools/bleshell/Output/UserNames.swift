import Glibc

/// The name of a user of this machine; nil if the number has none.
func userName(_ user: UInt32) -> String? { getpwuid(user).map { String(cString: $0.pointee.pw_name) } }
