using Esb.Core.Configuration;

namespace Esb.Host.Lifecycle;

/// <summary>The setting <c>host.minThreads</c> of the thread pool of this process.</summary>
internal static class ThreadPoolMinimum
{
    /// <summary>Has the pool make so many threads at once when they are needed; does nothing where none is configured.</summary>
    public static void Raise(HostConfig host)
    {
        if (host.MinThreads is not { } least)
            return;
        ThreadPool.GetMinThreads(out _, out var completion);
        ThreadPool.SetMinThreads(least, completion);
    }
}
