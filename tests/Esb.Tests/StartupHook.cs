using Esb.Tests.Host.Composition;

/// <summary>Runs in a process of esb.dll that names this assembly in DOTNET_STARTUP_HOOKS, before anything of its own.</summary>
internal static class StartupHook
{
    public static void Initialize() => CompileTrace.Run();
}
