using Esb.Configuration;
using Esb.Configuration.Compiling;

namespace Esb.Host.Composition;

/// <summary>The source from which a configuration is read, repeatedly.</summary>
/// <param name="Path">A file or a folder.</param>
/// <param name="Variables">The environment variables.</param>
/// <param name="Services">The service registrations of a bus.</param>
internal sealed record ConfigurationSource(string Path, IReadOnlyDictionary<string, string> Variables, Func<IServiceCollection> Services)
{
    /// <summary>Reads and compiles the current configuration.</summary>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    public BusModel Compile() => BusServices.Compile(Path, Variables, Services());

    /// <summary>Compiles files that stand elsewhere as if they stood there.</summary>
    /// <param name="files">A folder with them, or the only one.</param>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    public BusModel Compile(string files) =>
        BusServices.Compile(
            files,
            Variables,
            Services(),
            System.IO.Path.GetFullPath(Directory.Exists(Path) ? Path : System.IO.Path.GetDirectoryName(System.IO.Path.GetFullPath(Path))!)
        );
}
