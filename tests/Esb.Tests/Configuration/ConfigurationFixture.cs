using System.Text;
using Esb.Configuration;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;

namespace Esb.Tests.Configuration;

/// <summary>A folder of configuration files, and a reader that knows <see cref="FakeSettings"/>.</summary>
public abstract class ConfigurationFixture
{
    private DirectoryInfo _folder = null!;

    protected string Folder => _folder.FullName;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-config-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    private protected static SettingsCatalog Catalog => SettingsCatalog.From(FakeSettings.Register());

    /// <summary>Writes a file, with its folders, and returns its path.</summary>
    protected string Write(string name, string text) => Write(name, Encoding.UTF8.GetBytes(text));

    protected string Write(string name, byte[] bytes)
    {
        var path = Path.Combine(Folder, name);
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        File.WriteAllBytes(path, bytes);
        return path;
    }

    /// <summary>Reads what must be right.</summary>
    protected EsbConfiguration Accept(string json, params (string Name, string Value)[] variables) =>
        AcceptPath(Write("esb.json", json), variables);

    protected static EsbConfiguration AcceptPath(string path, params (string Name, string Value)[] variables)
    {
        var (configuration, errors) = Read(path, variables);

        Assert.That(errors, Is.Empty);
        return configuration!;
    }

    /// <summary>Reads what must be wrong, and returns all errors.</summary>
    protected IReadOnlyList<ConfigError> Refuse(string json, params (string Name, string Value)[] variables) =>
        RefusePath(Write("esb.json", json), variables);

    protected static IReadOnlyList<ConfigError> RefusePath(string path, params (string Name, string Value)[] variables)
    {
        var (configuration, errors) = Read(path, variables);

        Assert.That(configuration, Is.Null);
        return errors;
    }

    /// <summary>Reads what must have exactly one error, and returns that.</summary>
    protected ConfigError RefuseOnce(string json, params (string Name, string Value)[] variables)
    {
        var errors = Refuse(json, variables);

        Assert.That(errors, Has.Count.EqualTo(1), string.Join('\n', errors));
        return errors[0];
    }

    protected static (EsbConfiguration? Configuration, IReadOnlyList<ConfigError> Errors) Read(
        string path,
        params (string Name, string Value)[] variables
    )
    {
        var errors = new ConfigErrors();
        var configuration = new ConfigurationReader(Catalog).Read(
            path,
            variables.ToDictionary(variable => variable.Name, variable => variable.Value),
            errors
        );
        return (configuration, errors.All);
    }
}
