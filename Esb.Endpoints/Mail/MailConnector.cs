using Esb.Core.Certificates;
using Esb.Core.Errors;
using MailKit;
using MailKit.Net.Smtp;
using MailKit.Security;

namespace Esb.Endpoints.Mail;

/// <summary>Connects the instances of a mail endpoint to its server. Thread-safe.</summary>
/// <remarks>A refused password is tried once a minute for the whole endpoint, because servers lock accounts after repeated
/// failures.</remarks>
internal sealed class MailConnector(MailOutboundConfig config, TimeProvider time)
{
    private static readonly TimeSpan PauseAfterRefusal = TimeSpan.FromMinutes(1);

    private readonly Uri _url = new(config.Url);
    private readonly Lock _gate = new();
    private long? _refusedAt;

    /// <summary>Returns a session that is ready to send: the one given if it still is, otherwise a new one.</summary>
    /// <exception cref="EndpointException"><c>ESB-SMTP-AUTH</c>: the password was refused less than a minute ago.</exception>
    public async Task<MailSession> ConnectAsync(MailSession? current, CancellationToken cancellationToken)
    {
        if (current is not null)
        {
            if (await IsAliveAsync(current, cancellationToken))
                return current;
            current.Dispose();
        }

        if (config.User is not null)
            RefuseTooSoon();
        var authorities = config.Tls.Ca is { } ca ? CertificateFiles.LoadAuthorities(ca, time.GetUtcNow()) : null;
        var session = new MailSession(config.Tls, config.Timeout, new PeerVerifier("the mail server", authorities, PeerVerifier.Server));
        try
        {
            var isImplicit = _url.Scheme == MailUrl.Implicit;
            var security =
                config.Tls.Mode == MailTlsMode.None ? SecureSocketOptions.None
                : isImplicit ? SecureSocketOptions.SslOnConnect
                : SecureSocketOptions.StartTls;
            await session.ConnectAsync(_url.IdnHost, MailUrl.PortOf(_url), security, cancellationToken);
            if (config.User is { } user)
                await LogInAsync(session, user, cancellationToken);
            return session;
        }
        catch
        {
            session.Dispose();
            throw;
        }
    }

    private async Task LogInAsync(MailSession session, string user, CancellationToken cancellationToken)
    {
        try
        {
            await session.AuthenticateAsync(user, config.Password ?? "", cancellationToken);
            lock (_gate)
                _refusedAt = null;
        }
        catch (Exception ex) when (ex is AuthenticationException or NotSupportedException)
        {
            lock (_gate)
                _refusedAt = time.GetTimestamp();
            throw MailFailures.Refused(config.Name, ex);
        }
    }

    private void RefuseTooSoon()
    {
        lock (_gate)
        {
            if (_refusedAt is { } since && time.GetElapsedTime(since) < PauseAfterRefusal)
                throw MailFailures.Refused(config.Name, cause: null);
        }
    }

    private static async Task<bool> IsAliveAsync(MailSession session, CancellationToken cancellationToken)
    {
        if (!session.IsConnected)
            return false;
        try
        {
            await session.NoOpAsync(cancellationToken);
            return true;
        }
        catch (Exception ex) when (ex is IOException or ProtocolException or SmtpCommandException or ServiceNotConnectedException)
        {
            return false; // servers close connections that are idle
        }
    }
}
