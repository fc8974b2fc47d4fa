namespace Esb.Endpoints.Sftp.Inbound;

/// <summary>A claimed file has changed: it is another file, and found again as such.</summary>
internal sealed class SftpChangedException() : Exception("The file has changed since it was found.");
