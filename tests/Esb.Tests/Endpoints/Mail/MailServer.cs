using System.Collections.Concurrent;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using MimeKit;

namespace Esb.Tests.Endpoints.Mail;

/// <summary>A mail server (RFC 5321) that keeps what it takes, and answers as a test says. Thread-safe.</summary>
internal sealed class MailServer : IAsyncDisposable
{
    private readonly TcpListener _listener;
    private readonly CancellationTokenSource _stopping = new();
    private readonly ConcurrentQueue<ReceivedMail> _received = new();
    private readonly ConcurrentQueue<string> _commands = new();
    private readonly ConcurrentBag<Task> _sessions = [];
    private readonly Task _accepting;

    /// <param name="port">The port; 0 for a free one.</param>
    public MailServer(int port = 0)
    {
        _listener = new TcpListener(IPAddress.Loopback, port);
        _listener.Start();
        _accepting = AcceptAsync();
    }

    public int Port => ((IPEndPoint)_listener.LocalEndpoint).Port;

    /// <summary>The certificate for STARTTLS, or for TLS from the first byte; null if the server has none.</summary>
    public X509Certificate2? Certificate { get; init; }

    /// <summary>True if the server speaks TLS from the first byte.</summary>
    public bool IsImplicit { get; init; }

    /// <summary>What it says in clear behind its answer to STARTTLS, before TLS begins: as somebody on the way would.</summary>
    public string Injected { get; init; } = "";

    /// <summary>The user and the password that it takes; null if it asks for none.</summary>
    public string? Login { get; set; }

    /// <summary>What it answers to a recipient; null to take it.</summary>
    public Func<string, string?> AnswerTo { get; set; } = _ => null;

    /// <summary>What it answers to a whole mail; null to hang up without an answer.</summary>
    public Func<string?> AnswerToMail { get; set; } = () => "250 taken";

    /// <summary>Called before each answer.</summary>
    public Func<string, Task> Before { get; set; } = _ => Task.CompletedTask;

    public IReadOnlyList<ReceivedMail> Received => [.. _received];

    public IReadOnlyList<string> Commands => [.. _commands];

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        _listener.Stop();
        await _accepting.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await Task.WhenAll(_sessions).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _stopping.Dispose();
    }

    private async Task AcceptAsync()
    {
        while (true)
            _sessions.Add(ServeAsync(await _listener.AcceptTcpClientAsync(_stopping.Token)));
    }

    private async Task ServeAsync(TcpClient client)
    {
        using var connection = client;
        Stream stream = client.GetStream();
        if (IsImplicit)
            stream = await SecureAsync(stream);
        await AnswerAsync(stream, "220 mail.test ready");
        var (recipients, sender) = (new List<string>(), "");
        var lines = new LineReader(stream);
        while (await lines.ReadTextAsync(_stopping.Token) is { } line)
        {
            _commands.Enqueue(line);
            await Before(line);
            var verb = line.Split(' ', ':')[0].ToUpperInvariant();
            switch (verb)
            {
                case "EHLO":
                    await AnswerAsync(
                        stream,
                        string.Concat(
                            "250-mail.test\r\n",
                            "250-8BITMIME\r\n",
                            Certificate is not null && stream is not SslStream ? "250-STARTTLS\r\n" : "",
                            Login is not null ? "250-AUTH PLAIN\r\n" : "",
                            "250 SIZE 10000000"
                        )
                    );
                    break;
                case "STARTTLS":
                    await AnswerAsync(stream, $"220 go ahead{Injected}");
                    stream = await SecureAsync(stream);
                    lines = new LineReader(stream);
                    break;
                case "AUTH":
                    var given = Encoding.UTF8.GetString(Convert.FromBase64String(line.Split(' ')[^1])).TrimStart('\0').Replace('\0', ':');
                    await AnswerAsync(stream, given == Login ? "235 welcome" : "535 5.7.8 wrong user or password");
                    break;
                case "MAIL":
                    (sender, recipients) = (Address(line), []);
                    await AnswerAsync(stream, "250 ok");
                    break;
                case "RCPT":
                    var answer = AnswerTo(Address(line));
                    if (answer is null)
                        recipients.Add(Address(line));
                    await AnswerAsync(stream, answer ?? "250 ok");
                    break;
                case "DATA":
                    await AnswerAsync(stream, recipients.Count > 0 ? "354 go ahead" : "554 no valid recipients");
                    if (recipients.Count == 0)
                        break;
                    if (await ReadMailAsync(lines) is not { } mail || AnswerToMail() is not { } verdict)
                        return;
                    if (verdict.StartsWith('2'))
                        _received.Enqueue(new ReceivedMail(sender, recipients, mail));
                    await AnswerAsync(stream, verdict);
                    break;
                case "QUIT":
                    await AnswerAsync(stream, "221 bye");
                    return;
                default:
                    await AnswerAsync(stream, "250 ok");
                    break;
            }
        }
    }

    private async Task<Stream> SecureAsync(Stream stream)
    {
        var secured = new SslStream(stream);
        await secured.AuthenticateAsServerAsync(new SslServerAuthenticationOptions { ServerCertificate = Certificate }, _stopping.Token);
        return secured;
    }

    private async Task AnswerAsync(Stream stream, string answer) =>
        await stream.WriteAsync(Encoding.ASCII.GetBytes($"{answer}\r\n"), _stopping.Token);

    // Null where the connection ended before the mail: it is not taken.
    private async Task<byte[]?> ReadMailAsync(LineReader lines)
    {
        using var mail = new MemoryStream();
        while (await lines.ReadAsync(_stopping.Token) is { } line)
        {
            if (line is [(byte)'.'])
                return mail.ToArray();
            mail.Write(line is [(byte)'.', ..] ? line.AsSpan(1) : line); // RFC 5321, section 4.5.2
            mail.Write("\r\n"u8);
        }

        return null;
    }

    private static string Address(string line) =>
        line[(line.IndexOf('<', StringComparison.Ordinal) + 1)..line.IndexOf('>', StringComparison.Ordinal)];
}

/// <summary>Reads lines that end with CR LF.</summary>
internal sealed class LineReader(Stream stream)
{
    private readonly byte[] _buffer = new byte[4096];
    private int _next;
    private int _end;

    public async Task<string?> ReadTextAsync(CancellationToken cancellationToken) =>
        await ReadAsync(cancellationToken) is { } line ? Encoding.UTF8.GetString(line) : null;

    /// <summary>Returns the next line without its end; null at the end of the stream.</summary>
    public async Task<byte[]?> ReadAsync(CancellationToken cancellationToken)
    {
        var line = new List<byte>();
        while (true)
        {
            if (_next == _end)
                (_next, _end) = (0, await stream.ReadAsync(_buffer, cancellationToken));
            if (_end == 0)
                return null;
            var one = _buffer[_next++];
            if (one == '\n' && line is [.., (byte)'\r'])
                return [.. line[..^1]];
            line.Add(one);
        }
    }
}

/// <summary>A mail that the server took.</summary>
/// <param name="Sender">The address of the envelope.</param>
/// <param name="Recipients">The addresses of the envelope.</param>
/// <param name="Bytes">The mail as it came.</param>
internal sealed record ReceivedMail(string Sender, IReadOnlyList<string> Recipients, byte[] Bytes)
{
    public MimeMessage Mail => MimeMessage.Load(new MemoryStream(Bytes));

    /// <summary>The text, without the line break that a mail ends with.</summary>
    public string Text => Mail.TextBody!.ReplaceLineEndings("\r\n").TrimEnd('\r', '\n');
}
