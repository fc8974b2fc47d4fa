namespace Esb.Core.Configuration;

/// <summary>An error in a file of certificates, keys or settings, as the end of a sentence about it, such as <c>holds no
/// token</c>.</summary>
/// <param name="fault">The error, without the secrets in the file.</param>
public class FileFaultException(string fault) : Exception(fault);
