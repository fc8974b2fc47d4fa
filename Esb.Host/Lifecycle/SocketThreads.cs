namespace Esb.Host.Lifecycle;

/// <summary>Keeps the threads that wait for sockets from handling what arrives there (ADR 21): clients of databases wait for sockets on the
/// thread that they are called on, and a thread that waits for itself never ends.</summary>
internal static class SocketThreads
{
    /// <summary>The setting of .NET, read when the first socket of a process is used: <c>1</c> has these threads handle all.</summary>
    public const string Variable = "DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS";

    /// <summary>Takes the setting back. To be called before the first socket of the process.</summary>
    /// <returns>True if it was set.</returns>
    public static bool Spare()
    {
        if (Environment.GetEnvironmentVariable(Variable) != "1")
            return false;
        Environment.SetEnvironmentVariable(Variable, "0");
        return true;
    }
}
