using Esb.Core.Configuration;

namespace Esb.Core.Certificates;

/// <summary>An error in a certificate file, as the end of a sentence about it, such as <c>expired on 2026-01-01 00:00:00Z</c>.</summary>
/// <param name="fault">The error, without the contents of the file.</param>
public sealed class CertificateException(string fault) : FileFaultException(fault);
