namespace Esb.IntegrationTests.Faults.Network;

/// <summary>Toxiproxy where it is to be found, in the PATH or beside the repository; otherwise a proxy of our own, in this
/// process.</summary>
internal static class NetworkProxies
{
    private const string Program = "toxiproxy-server";

    public static async Task<INetworkProxy> StartAsync(int serverPort, Action<string> log)
    {
        if (Find() is { } program)
            return await Toxiproxy.StartAsync(program, serverPort);
        log($"{Program} was not found: latency, stalls, half-open connections, resets and cuts come from a proxy of the tests themselves");
        return new LocalProxy(serverPort);
    }

    private static string? Find()
    {
        var folders = (Environment.GetEnvironmentVariable("PATH") ?? "").Split(':', StringSplitOptions.RemoveEmptyEntries);
        return folders
            .Append(Path.Combine(Repository.Root, "..", "shared", "bin"))
            .Select(folder => Path.Combine(folder, Program))
            .FirstOrDefault(File.Exists);
    }
}
