using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Configuration.Reading;
using Esb.Core.Configuration;

namespace Esb.Host.Composition;

/// <summary>The source from which a configuration is read, repeatedly.</summary>
/// <param name="Path">A file or a folder.</param>
/// <param name="Variables">The environment variables.</param>
/// <param name="Services">The service registrations of a bus.</param>
internal sealed record ConfigurationSource(string Path, IReadOnlyDictionary<string, string> Variables, Func<IServiceCollection> Services)
{
    /// <summary>The version that the host starts with; null if it starts with its files.</summary>
    public KeptVersion? Start { get; init; }

    /// <summary>True if versions in the store are what hosts run, so that the files only say how to reach it.</summary>
    public bool IsBootstrap { get; init; }

    /// <summary>The folder in which relative paths begin.</summary>
    public string Folder =>
        System.IO.Path.GetFullPath(Directory.Exists(Path) ? Path : System.IO.Path.GetDirectoryName(System.IO.Path.GetFullPath(Path))!);

    /// <summary>A source with the same registrations each time it is compiled.</summary>
    public static ConfigurationSource Of(string path, IReadOnlyDictionary<string, string> variables, IServiceCollection services)
    {
        var registered = services.ToList(); // before anything is added
        return new ConfigurationSource(
            path,
            variables,
            () =>
            {
                var copy = new ServiceCollection();
                foreach (var descriptor in registered)
                    ((ICollection<ServiceDescriptor>)copy).Add(descriptor);
                return copy;
            }
        );
    }

    /// <summary>Reads and compiles the current files.</summary>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    public BusModel Compile() => BusServices.Compile(Path, Variables, Services());

    /// <summary>Compiles files that stand elsewhere as if they stood there.</summary>
    /// <param name="files">A folder with them and their contents, or the only one.</param>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    public BusModel Compile(string files) => BusServices.Compile(files, Variables, Services(), PlaceOf(files));

    private ConfigPlace PlaceOf(string files) =>
        new(
            Folder,
            System.IO.Path.GetFullPath(Directory.Exists(files) ? files : System.IO.Path.GetDirectoryName(files)!),
            IsBootstrap ? Path : null
        );
}

/// <summary>A version of the configuration in a folder of this host.</summary>
/// <param name="Number">Its number; null if it is to become the first.</param>
/// <param name="Files">A folder with its files and contents, or the only file.</param>
/// <param name="Warning">Why it may not be the newest; null if it was the newest when it was read.</param>
internal sealed record KeptVersion(long? Number, string Files, string? Warning = null);
