using System.Text;
using Esb.Configuration;
using Esb.Configuration.Settings;
using Esb.Content;
using Esb.Content.Expressions;
using Esb.Content.Xml;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Content;

/// <summary>Builds what the tests of content have in common.</summary>
internal static class SomeContent
{
    public static XmlInput Xml { get; } = new(new XmlLimits());

    public static ExpressionCompiler Compiler(params (string Prefix, string Uri)[] namespaces) =>
        new(namespaces.ToDictionary(entry => entry.Prefix, entry => entry.Uri), Xml, TimeProvider.System);

    public static MessageBody Body(string text) => MessageBody.FromText(text);

    public static ConfigNode Constant(object value) =>
        value switch
        {
            string text => new ConfigNode(ConfigKind.Text, "constant", ConfigOrigin.Default) { Text = text },
            bool flag => new ConfigNode(ConfigKind.Boolean, "constant", ConfigOrigin.Default) { Text = flag ? "true" : "false" },
            _ => new ConfigNode(ConfigKind.Number, "constant", ConfigOrigin.Default)
            {
                Text = MessageValues.AsText(Convert.ToDouble(value))!,
            },
        };

    /// <summary>A configuration folder with these files, read and checked; all errors of both.</summary>
    public static ConfiguredContent Configure(string esbJson, params (string Name, string Text)[] files)
    {
        var folder = Directory.CreateTempSubdirectory("esb-content-");
        foreach (var (name, text) in files.Append(("esb.json", esbJson)))
        {
            var path = Path.Combine(folder.FullName, name);
            Directory.CreateDirectory(Path.GetDirectoryName(path)!);
            File.WriteAllText(path, text, new UTF8Encoding(false));
        }

        return new ConfiguredContent(folder);
    }

    /// <summary>A folder of the repository.</summary>
    public static string RepositoryFolder(string name)
    {
        var folder = new DirectoryInfo(TestContext.CurrentContext.TestDirectory);
        while (!File.Exists(Path.Combine(folder.FullName, "Esb.sln")))
            folder = folder.Parent!;
        return Path.Combine(folder.FullName, name);
    }
}

/// <summary>The content services over a configuration folder of their own; disposing removes it.</summary>
internal sealed class ConfiguredContent : IDisposable
{
    private readonly DirectoryInfo _folder;
    private readonly ServiceProvider? _services;

    public ConfiguredContent(DirectoryInfo folder)
    {
        _folder = folder;
        var services = new ServiceCollection()
            .AddSection<LimitsConfig>("limits", "Limits.")
            .AddEsbContent()
            .AddLogging()
            .AddSingleton(TimeProvider.System);
        var errors = new ConfigErrors();
        var configuration = new ConfigurationReader(SettingsCatalog.From(services)).Read(
            folder.FullName,
            new Dictionary<string, string>(),
            errors
        );
        if (configuration is not null)
            _services = Compiled.Build(services, configuration, errors);
        Errors = errors.All;
    }

    public IReadOnlyList<ConfigError> Errors { get; }

    public string Folder => _folder.FullName;

    /// <summary>A compiler with the configured namespaces and limits.</summary>
    public IExpressionCompiler Expressions =>
        new ExpressionCompiler(Get<NamespaceModel>().Uris, Get<XmlInput>(), TimeProvider.System, Get<LimitsConfig>().CheckWholeBodies);

    public T Get<T>()
        where T : notnull => _services!.GetRequiredService<T>();

    public void Dispose()
    {
        _services?.Dispose();
        _folder.Delete(recursive: true);
    }
}
