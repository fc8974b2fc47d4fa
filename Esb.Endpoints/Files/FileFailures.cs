using Esb.Core.Errors;

namespace Esb.Endpoints.Files;

/// <summary>Maps failures of the file system to failures of a message.</summary>
internal static class FileFailures
{
    private const int WindowsDiskFull = unchecked((int)0x80070070);
    private const int WindowsHandleDiskFull = unchecked((int)0x80070027);

    /// <summary>The failure of an endpoint that cannot write. The cause is its folder and affects every message, so the endpoint
    /// waits.</summary>
    public static EndpointException Writing(string endpoint, Exception cause) =>
        cause switch
        {
            _ when IsDiskFull(cause) => Outage(endpoint, "ESB-FILE-DISKFULL", "The disk of the folder is full.", cause),
            DirectoryNotFoundException => Outage(endpoint, "ESB-FILE-FOLDER", "The folder does not exist.", cause),
            UnauthorizedAccessException => Outage(endpoint, "ESB-FILE-ACCESS", "The folder may not be written to.", cause),
            _ => new EndpointException(endpoint, "ESB-FILE-IO", "The file could not be written.", isTransient: true, cause),
        };

    /// <summary>True if no space or no quota is left.</summary>
    public static bool IsDiskFull(Exception cause) =>
        cause is IOException && cause.HResult is Posix.NoSpace or Posix.QuotaExceededLinux or WindowsDiskFull or WindowsHandleDiskFull;

    private static EndpointException Outage(string endpoint, string code, string sentence, Exception cause) =>
        new(endpoint, code, sentence, isTransient: true, cause, FaultKind.Unavailable) { IsOutage = true };
}
