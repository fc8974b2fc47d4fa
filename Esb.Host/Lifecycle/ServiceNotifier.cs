using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace Esb.Host.Lifecycle;

/// <summary>Tells systemd that the host is ready, works and stops, over the datagram socket that <c>NOTIFY_SOCKET</c> names
/// (https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html). Does nothing without it.</summary>
/// <remarks>The watchdog is fed from the thread pool: a host whose pool is exhausted is restarted by systemd.</remarks>
internal sealed partial class ServiceNotifier : IAsyncDisposable
{
    private readonly string? _socket;
    private readonly TimeSpan? _watchdog;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stopping = new();
    private Task _feeding = Task.CompletedTask;

    /// <param name="variables">The environment variables.</param>
    /// <param name="processId">This process.</param>
    /// <param name="time">The clock.</param>
    /// <param name="logger">Logs a socket that takes nothing.</param>
    public ServiceNotifier(IReadOnlyDictionary<string, string> variables, int processId, TimeProvider time, ILogger<ServiceNotifier> logger)
    {
        (_time, _logger) = (time, logger);
        _socket = variables.GetValueOrDefault("NOTIFY_SOCKET") is { Length: > 0 } path && !OperatingSystem.IsWindows() ? path : null;
        var isOurs =
            variables.GetValueOrDefault("WATCHDOG_PID") is not { Length: > 0 } pid
            || pid == processId.ToString(CultureInfo.InvariantCulture);
        if (
            isOurs
            && long.TryParse(
                variables.GetValueOrDefault("WATCHDOG_USEC"),
                NumberStyles.None,
                CultureInfo.InvariantCulture,
                out var microseconds
            )
            && microseconds > 0
        )
            _watchdog = TimeSpan.FromMicroseconds(microseconds);
    }

    /// <summary>Tells that the host accepts messages, and feeds the watchdog from now on.</summary>
    public void Ready()
    {
        Send("READY=1");
        if (_socket is not null && _watchdog is { } watchdog)
            _feeding = FeedAsync(watchdog / 2, _stopping.Token);
    }

    /// <summary>Tells that the host stops; the watchdog is fed meanwhile.</summary>
    public void Stopping() => Send("STOPPING=1");

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _feeding.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _stopping.Dispose();
    }

    private async Task FeedAsync(TimeSpan interval, CancellationToken stopping)
    {
        while (true)
        {
            Send("WATCHDOG=1");
            await Task.Delay(interval, _time, stopping);
        }
    }

    private void Send(string state)
    {
        if (_socket is null)
            return;
        try
        {
            using var socket = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
            // @ stands for an abstract name
            socket.Connect(new UnixDomainSocketEndPoint(_socket[0] == '@' ? $"\0{_socket[1..]}" : _socket));
            socket.Send(Encoding.UTF8.GetBytes(state));
        }
        catch (Exception ex) when (ex is SocketException or ArgumentException)
        {
            LogNotTold(state, ex);
        }
    }

    [LoggerMessage(EventId = 5050, Level = LogLevel.Warning, Message = "systemd could not be told {State}")]
    private partial void LogNotTold(string state, Exception exception);
}
