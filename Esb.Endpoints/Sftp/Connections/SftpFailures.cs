using System.Net.Sockets;
using Esb.Core.Errors;
using Renci.SshNet.Common;
using Renci.SshNet.Sftp;

namespace Esb.Endpoints.Sftp.Connections;

/// <summary>Maps failures of an SFTP server to failures of an endpoint.</summary>
internal static class SftpFailures
{
    /// <summary>The code of a refused user, password or key.</summary>
    public const string RefusedCode = "ESB-SFTP-AUTH";

    /// <summary>Maps an exception of a session; null for exceptions of other origin.</summary>
    public static EndpointException? Of(string endpoint, Exception cause) =>
        cause switch
        {
            EndpointException own => own,
            SftpPathNotFoundException => Outage(
                endpoint,
                "ESB-SFTP-FOLDER",
                $"A folder or file of '{endpoint}' does not exist on the SFTP server.",
                cause
            ),
            SftpPermissionDeniedException => Outage(
                endpoint,
                "ESB-SFTP-ACCESS",
                $"The SFTP server of '{endpoint}' denies access to a folder or file.",
                cause
            ),
            SftpException refused when !IsLost(refused) => new EndpointException(
                endpoint,
                "ESB-SFTP-FAILED",
                $"The SFTP server of '{endpoint}' failed at an operation ({refused.StatusCode}).",
                isTransient: true,
                cause
            ),
            SshException or SocketException or IOException or ObjectDisposedException or TimeoutException or OperationCanceledException =>
                new EndpointException(
                    endpoint,
                    "ESB-SFTP-LOST",
                    $"The connection to the SFTP server of '{endpoint}' was lost, or it gave no answer in time.",
                    isTransient: true,
                    cause
                )
                {
                    IsUnanswered = true,
                },
            _ => null,
        };

    /// <summary>True if the server has answered and refused: the session stays usable.</summary>
    public static bool IsAnswer(Exception cause) =>
        cause is EsbException or SftpPathNotFoundException or SftpPermissionDeniedException
        || (cause is SftpException refused && !IsLost(refused));

    /// <summary>The server cannot be reached.</summary>
    public static EndpointException Unreachable(string endpoint, SftpAddress address, Exception cause) =>
        Outage(
            endpoint,
            "ESB-SFTP-UNREACHABLE",
            $"The SFTP server of '{endpoint}' cannot be reached.",
            cause,
            ConnectionTrouble.Describe(address.Place, cause)
        );

    /// <summary>The server shows none of the pinned keys.</summary>
    public static EndpointException WrongHostKey(string endpoint, SftpAddress address, string shown, Exception cause) =>
        Outage(
            endpoint,
            "ESB-SFTP-HOSTKEY",
            $"The SFTP server of '{endpoint}' shows a key that is not in hostKey; nothing was sent.",
            cause,
            $"{address.Place} shows {shown}."
        );

    /// <summary>The server refuses the user.</summary>
    public static EndpointException Refused(string endpoint, Exception? cause) =>
        Outage(
            endpoint,
            RefusedCode,
            $"The SFTP server of '{endpoint}' refuses the user, its password or its key; it is tried once a minute.",
            cause
        );

    private static bool IsLost(SftpException refused) => refused.StatusCode is StatusCode.ConnectionLost or StatusCode.NoConnection;

    private static EndpointException Outage(string endpoint, string code, string sentence, Exception? cause, string? detail = null) =>
        new(endpoint, code, sentence, isTransient: true, cause) { IsOutage = true, Detail = detail };
}
