using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace SideBySide.Servers;

/// <summary>Asks the <see cref="StartupHook"/> inside a .NET process.</summary>
internal sealed class HostProbe(string socket)
{
    /// <summary>The variables that a process needs to answer.</summary>
    public IEnumerable<KeyValuePair<string, string>> Variables =>
        [new("DOTNET_STARTUP_HOOKS", typeof(HostProbe).Assembly.Location), new("SIDEBYSIDE_PROBE", socket)];

    /// <summary>Bytes allocated since the process began.</summary>
    public async Task<long> AllocatedBytesAsync(CancellationToken cancellationToken) =>
        long.Parse((await AskAsync(cancellationToken)).Split(' ')[0], CultureInfo.InvariantCulture);

    /// <summary>Such as "workstation Interactive".</summary>
    public async Task<string> CollectorAsync(CancellationToken cancellationToken) =>
        (await AskAsync(cancellationToken)).Split(' ', 2)[1].Trim();

    private async Task<string> AskAsync(CancellationToken cancellationToken)
    {
        using var connection = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        await connection.ConnectAsync(new UnixDomainSocketEndPoint(socket), cancellationToken);
        using var reader = new StreamReader(new NetworkStream(connection), Encoding.ASCII);
        return await reader.ReadToEndAsync(cancellationToken);
    }
}
