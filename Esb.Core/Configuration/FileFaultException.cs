namespace Esb.Core.Configuration;

/// <summary>What is wrong with a file of certificates, keys or settings, as the end of a sentence about it, such as <c>holds no token</c>.</summary>
/// <param name="fault">Without the secrets in the file.</param>
public class FileFaultException(string fault) : Exception(fault);
