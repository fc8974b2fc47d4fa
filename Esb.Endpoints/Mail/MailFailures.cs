using System.Net.Sockets;
using Esb.Core.Errors;
using MailKit;
using MailKit.Net.Smtp;
using MailKit.Security;

namespace Esb.Endpoints.Mail;

/// <summary>Failures at a mail server.</summary>
internal static class MailFailures
{
    /// <summary>Maps an exception of the connection or the session to a failure; null for exceptions of other origin, and for a
    /// cancellation.</summary>
    /// <param name="endpoint">The endpoint's name.</param>
    /// <param name="exception">The exception.</param>
    /// <param name="hasBegun">True if content of the mail may have been sent, so that the server may deliver it.</param>
    public static EndpointException? Of(string endpoint, Exception exception, bool hasBegun) =>
        exception switch
        {
            SslHandshakeException => Outage(
                endpoint,
                "ESB-SMTP-TLS",
                $"The mail server of '{endpoint}' cannot be reached over TLS: {FaultOf(exception)}",
                exception
            ),
            NotSupportedException when exception.Message.Contains("STARTTLS", StringComparison.Ordinal) => Outage(
                endpoint,
                "ESB-SMTP-TLS",
                $"The mail server of '{endpoint}' offers no STARTTLS, and TLS is required; nothing was sent.",
                exception
            ),
            AuthenticationException or NotSupportedException or SaslException => Refused(endpoint, exception),
            SmtpCommandException
            {
                StatusCode: SmtpStatusCode.AuthenticationRequired
                    or SmtpStatusCode.AuthenticationInvalidCredentials
                    or SmtpStatusCode.AuthenticationMechanismTooWeak
            } => Refused(endpoint, exception),
            SmtpCommandException command => Of(endpoint, command),
            SocketException => Outage(endpoint, "ESB-SMTP-UNREACHABLE", $"The mail server of '{endpoint}' cannot be reached.", exception),
            IOException or ProtocolException or ServiceNotConnectedException or TimeoutException when hasBegun => new EndpointException(
                endpoint,
                "ESB-SMTP-UNKNOWN",
                $"The mail server of '{endpoint}' did not confirm the mail; the next attempt, with the same Message-ID, may duplicate it.",
                isTransient: true,
                exception
            )
            {
                IsUnanswered = true,
            },
            IOException or ProtocolException or ServiceNotConnectedException or TimeoutException => new EndpointException(
                endpoint,
                "ESB-SMTP-LOST",
                $"The connection to the mail server of '{endpoint}' was lost before the mail was sent.",
                isTransient: true,
                exception
            )
            {
                IsUnanswered = true,
            },
            _ => null,
        };

    /// <summary>The server refuses the user or the password.</summary>
    public static EndpointException Refused(string endpoint, Exception? cause) =>
        Outage(
            endpoint,
            "ESB-SMTP-AUTH",
            $"The mail server of '{endpoint}' refuses the user or the password; nothing was sent, and it is tried once a minute.",
            cause
        );

    private static EndpointException Of(string endpoint, SmtpCommandException command)
    {
        var status = (int)command.StatusCode;
        if (command.StatusCode is SmtpStatusCode.ServiceNotAvailable || status < 500)
        {
            return new EndpointException(
                endpoint,
                "ESB-SMTP-LATER",
                $"The mail server of '{endpoint}' takes the mail later ({status}).",
                isTransient: true,
                command
            )
            {
                IsTurnedAway = command.StatusCode == SmtpStatusCode.ServiceNotAvailable,
            };
        }

        return command.StatusCode == SmtpStatusCode.ExceededStorageAllocation
            ? new EndpointException(
                endpoint,
                "ESB-SMTP-SIZE",
                $"The mail is larger than the mail server of '{endpoint}' takes ({status}).",
                isTransient: false,
                command,
                FaultKind.TooLarge
            )
            : new EndpointException(
                endpoint,
                command.ErrorCode == SmtpErrorCode.SenderNotAccepted ? "ESB-SMTP-SENDER" : "ESB-SMTP-REFUSED",
                command.ErrorCode == SmtpErrorCode.SenderNotAccepted
                    ? $"The mail server of '{endpoint}' refuses the sender ({status})."
                    : $"The mail server of '{endpoint}' refuses the mail ({status}).",
                isTransient: false,
                command
            );
    }

    private static EndpointException Outage(string endpoint, string code, string message, Exception? cause) =>
        new(endpoint, code, message, isTransient: true, cause) { IsOutage = true };

    private static string FaultOf(Exception exception)
    {
        for (var cause = exception.InnerException; cause is not null; cause = cause.InnerException)
        {
            if (cause is UntrustedMailServerException)
                return $"{cause.Message}.";
        }

        return "the server and this client do not agree.";
    }
}

/// <summary>The certificate of a mail server failed a check; the message names it.</summary>
internal sealed class UntrustedMailServerException(string message) : Exception(message);
