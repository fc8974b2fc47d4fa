using System.Reflection;

namespace Esb.Host;

internal static class HostVersion
{
    /// <summary>The version of this program, such as <c>0.2.0</c>.</summary>
    public static string Text { get; } =
        typeof(HostVersion).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()!.InformationalVersion.Split('+')[0];
}
