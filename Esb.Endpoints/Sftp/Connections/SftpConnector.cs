using Esb.Core.Errors;
using Renci.SshNet;
using Renci.SshNet.Common;

namespace Esb.Endpoints.Sftp.Connections;

/// <summary>Connects sessions to an SFTP server with a pinned host key. Thread-safe.</summary>
/// <remarks>A refused user is tried once a minute for the whole endpoint, because servers lock accounts and addresses after repeated
/// failures.</remarks>
internal sealed class SftpConnector(ISftpServer server, TimeProvider time)
{
    /// <summary>Begins every fingerprint.</summary>
    public const string FingerprintPrefix = "SHA256:";

    private static readonly TimeSpan PauseAfterRefusal = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan LongestAnswer = TimeSpan.FromSeconds(30);

    private readonly SftpAddress _address = SftpAddress.Parse(server.Url)!;
    private readonly HashSet<string> _pinned = [.. server.HostKey.Select(key => key.TrimEnd('='))];
    private readonly Lock _gate = new();
    private long? _refusedAt;

    /// <summary>The folder of the address.</summary>
    public string Folder => _address.Folder;

    /// <summary>The maximum time that the server may take for an answer.</summary>
    public TimeSpan AnswerTime => server.Timeout < LongestAnswer ? server.Timeout : LongestAnswer;

    /// <summary>Opens a session. A server with several keys shows one of a kind that the client asks for, so the kinds are tried until a
    /// pinned key is shown.</summary>
    /// <exception cref="EndpointException"><c>ESB-SFTP-UNREACHABLE</c>, <c>ESB-SFTP-HOSTKEY</c>, <c>ESB-SFTP-AUTH</c>.</exception>
    public async Task<SftpClient> ConnectAsync(CancellationToken cancellationToken)
    {
        RefuseTooSoon();
        var shown = new Dictionary<string, string>(); // fingerprints by kind of key
        while (true)
        {
            var known = shown.Count;
            var client = Create(shown);
            using var limited = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            limited.CancelAfter(AnswerTime);
            try
            {
                await client.ConnectAsync(limited.Token);
                lock (_gate)
                    _refusedAt = null;
                return client;
            }
            catch (Exception ex) when (!cancellationToken.IsCancellationRequested)
            {
                client.Dispose();
                if (shown.Count == known)
                    throw Explain(ex, shown); // otherwise another kind may be pinned
            }
            catch
            {
                client.Dispose();
                throw;
            }
        }
    }

    private SftpClient Create(Dictionary<string, string> shown)
    {
        var connection = new ConnectionInfo(_address.Host, _address.Port, _address.User, Methods())
        {
            Timeout = AnswerTime,
            RetryAttempts = 1,
        };
        foreach (
            var name in connection
                .HostKeyAlgorithms.Keys.Where(name => name.Contains("-cert-", StringComparison.Ordinal) || shown.ContainsKey(KindOf(name)))
                .ToList()
        )
            connection.HostKeyAlgorithms.Remove(name);
        var client = new SftpClient(connection) { OperationTimeout = AnswerTime };
        client.HostKeyReceived += (_, key) =>
        {
            var fingerprint = FingerprintPrefix + key.FingerPrintSHA256;
            key.CanTrust = _pinned.Contains(fingerprint);
            if (!key.CanTrust)
                shown[KindOf(key.HostKeyName)] = fingerprint;
        };
        return client;
    }

    private AuthenticationMethod[] Methods()
    {
        if (server.PrivateKey is not null)
            return [new PrivateKeyAuthenticationMethod(_address.User, SftpServerCheck.ReadKey(server))];
        var asked = new KeyboardInteractiveAuthenticationMethod(_address.User); // some servers take passwords only so
        asked.AuthenticationPrompt += (_, prompts) =>
        {
            foreach (var prompt in prompts.Prompts.Where(prompt => !prompt.IsEchoed))
                prompt.Response = server.Password!;
        };
        return [new PasswordAuthenticationMethod(_address.User, server.Password!), asked];
    }

    private EndpointException Explain(Exception cause, Dictionary<string, string> shown)
    {
        if (cause is not SshAuthenticationException)
            return shown.Count > 0
                ? SftpFailures.WrongHostKey(server.Name, _address, string.Join(", ", shown.Values), cause)
                : SftpFailures.Unreachable(server.Name, _address, cause);
        lock (_gate)
            _refusedAt = time.GetTimestamp();
        return SftpFailures.Refused(server.Name, cause);
    }

    private void RefuseTooSoon()
    {
        lock (_gate)
        {
            if (_refusedAt is { } since && time.GetElapsedTime(since) < PauseAfterRefusal)
                throw SftpFailures.Refused(server.Name, cause: null);
        }
    }

    // One RSA key serves several algorithms.
    private static string KindOf(string algorithm) => algorithm.Contains("rsa", StringComparison.Ordinal) ? "rsa" : algorithm;
}
