using Esb.Configuration;
using Esb.Configuration.Compiling;

namespace Esb.Host.Composition;

/// <summary>Where a configuration is read from, again and again.</summary>
/// <param name="Path">A file or a folder.</param>
/// <param name="Variables">The environment variables.</param>
/// <param name="Services">What a bus is made of.</param>
internal sealed record ConfigurationSource(string Path, IReadOnlyDictionary<string, string> Variables, Func<IServiceCollection> Services)
{
    /// <summary>Reads and compiles what stands there now.</summary>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    public BusModel Compile() => BusServices.Compile(Path, Variables, Services());
}
