using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using Esb.Core.Certificates;
using MailKit;
using MailKit.Net.Smtp;
using MailKit.Security;
using MimeKit;

namespace Esb.Endpoints.Mail;

/// <summary>A connection to a mail server that notes the answer for each recipient instead of giving up at the first refusal. Used by one
/// caller at a time.</summary>
internal sealed class MailSession : SmtpClient, ITransferProgress
{
    private readonly List<(MailboxAddress Recipient, int Status)> _answers = [];

    public MailSession(MailTlsConfig tls, TimeSpan timeout, PeerVerifier verifier)
    {
        CheckCertificateRevocation = false; // as everywhere in the bus: no certificate names a server to ask that is sure to answer
        Timeout = (int)timeout.TotalMilliseconds;
        ServerCertificateValidationCallback = (stream, shown, chain, errors) =>
            Verify(verifier, tls.ServerName, stream, shown, chain, errors);
    }

    /// <summary>The answer for each recipient of the last mail, in order: 250, or the refusing status.</summary>
    public IReadOnlyList<(MailboxAddress Recipient, int Status)> Answers => _answers;

    /// <summary>True if content of the last mail has been sent, so that the server may deliver it although it gave no answer.</summary>
    public bool HasBegun { get; private set; }

    /// <summary>Sends a mail to those recipients that the server takes.</summary>
    /// <returns>True if it took the mail; false if it refused every recipient.</returns>
    public async Task<bool> SendAsync(
        MimeMessage mail,
        MailboxAddress sender,
        IReadOnlyCollection<MailboxAddress> recipients,
        CancellationToken cancellationToken
    )
    {
        _answers.Clear();
        HasBegun = false;
        try
        {
            await SendAsync(FormatOptions.Default, mail, sender, recipients, cancellationToken, this);
        }
        catch (SmtpCommandException) when (_answers.Count > 0 && _answers.TrueForAll(answer => answer.Status >= 400))
        {
            // no recipient is left
        }

        return _answers.Exists(answer => answer.Status < 400);
    }

    /// <summary>Called while content is sent.</summary>
    void ITransferProgress.Report(long bytesTransferred, long totalSize) => HasBegun = true;

    /// <summary>Called while content is sent.</summary>
    void ITransferProgress.Report(long bytesTransferred) => HasBegun = true;

    protected override void OnRecipientAccepted(MimeMessage message, MailboxAddress mailbox, SmtpResponse response) =>
        _answers.Add((mailbox, (int)response.StatusCode));

    protected override void OnRecipientNotAccepted(MimeMessage message, MailboxAddress mailbox, SmtpResponse response)
    {
        if (response.StatusCode is SmtpStatusCode.ServiceNotAvailable or SmtpStatusCode.AuthenticationRequired)
            base.OnRecipientNotAccepted(message, mailbox, response);
        _answers.Add((mailbox, (int)response.StatusCode));
    }

    // Throws, so that the reason reaches the caller that connects.
    private static bool Verify(
        PeerVerifier verifier,
        string? serverName,
        object stream,
        X509Certificate? shown,
        X509Chain? chain,
        SslPolicyErrors errors
    )
    {
        if (serverName is not null && shown is X509Certificate2 certificate)
            errors = certificate.MatchesHostname(serverName)
                ? errors & ~SslPolicyErrors.RemoteCertificateNameMismatch
                : errors | SslPolicyErrors.RemoteCertificateNameMismatch;
        return
            verifier.FaultOf(shown, chain, errors, serverName ?? (stream as SslStream)?.TargetHostName ?? "the host of the url")
                is { } fault
            ? throw new UntrustedMailServerException(fault)
            : true;
    }
}
