using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Content.Codecs.Secure;
using Esb.Content.Expressions;
using Esb.Content.Formats;
using Esb.Content.Formats.Conversion;
using Esb.Content.Formats.Csv;
using Esb.Content.Formats.Flat;
using Esb.Content.Formats.JsonLines;
using Esb.Content.Lookups;
using Esb.Content.Schemas;
using Esb.Content.Splitting;
using Esb.Content.Transforms;
using Esb.Content.Watching;
using Esb.Content.Xml;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Esb.Core.Topics;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Content;

/// <summary>All that reads or changes what is in a message.</summary>
public static class ContentRegistration
{
    /// <summary>Registers expressions, schemas, maps and formats, with their sections <c>namespaces</c>,
    /// <c>schemas</c>, <c>maps</c> and <c>formats</c>.</summary>
    public static IServiceCollection AddEsbContent(this IServiceCollection services) =>
        services.AddXml().AddExpressions().AddSchemas().AddMaps().AddLookups().AddSecureCodecs().AddWatch().AddFormats();

    private static IServiceCollection AddXml(this IServiceCollection services) =>
        services.AddModel(provider => new XmlInput(XmlLimits.From(provider.GetRequiredService<LimitsConfig>())));

    private static IServiceCollection AddExpressions(this IServiceCollection services) =>
        services
            .AddSection<IReadOnlyDictionary<string, NamespaceConfig>>(
                "namespaces",
                "Prefixes for XPath, and the namespace that each stands for."
            )
            .AddCompiler<NamespaceModel, NamespaceCompiler>()
            .AddCompiling(ServiceDescriptor.Singleton(CreateCompiler));

    private static IServiceCollection AddSchemas(this IServiceCollection services) =>
        services
            .AddSection<IReadOnlyDictionary<string, SchemaConfig>>(
                "schemas",
                "XML Schemas and JSON Schemas that messages are validated with."
            )
            .AddCompiler<SchemaModels, SchemaCompiler>()
            .AddScoped<SchemaCatalog>()
            .AddScoped<ISchemaCatalog>(provider => provider.GetRequiredService<SchemaCatalog>())
            .AddScoped<ITopicSchemas, TopicSchemas>();

    private static IServiceCollection AddMaps(this IServiceCollection services) =>
        services
            .AddSection<IReadOnlyDictionary<string, MapConfig>>(
                "maps",
                "Stylesheets, JavaScript modules and Liquid templates that turn one message into another."
            )
            .AddCompiler<MapModels, MapCompiler>()
            .AddScoped<MapCatalog>()
            .AddScoped<IMapCatalog>(provider => provider.GetRequiredService<MapCatalog>());

    private static IServiceCollection AddLookups(this IServiceCollection services) =>
        services
            .AddSection<IReadOnlyDictionary<string, LookupConfig>>("lookups", "Tables in which values are looked up by a key.")
            .AddCompiler<LookupModels, LookupCompiler>()
            .AddScoped<LookupCatalog>();

    private static IServiceCollection AddSecureCodecs(this IServiceCollection services) =>
        services.AddCompiling(ServiceDescriptor.Singleton<SecureCodecs, SecureCodecs>());

    private static IServiceCollection AddWatch(this IServiceCollection services) =>
        services
            .AddSingleton<ContentWatch>()
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<ContentWatch>())
            .AddSingleton<IHealthNotices>(provider => provider.GetRequiredService<ContentWatch>());

    private static IServiceCollection AddFormats(this IServiceCollection services) =>
        services
            .AddSection<IReadOnlyDictionary<string, FormatConfig>>("formats", "Layouts of texts with records, such as CSV.")
            .AddKind<FormatConfig, CsvFormatConfig>("csv", "Records of fields between delimiters (RFC 4180).")
            .AddKind<FormatConfig, JsonLinesFormatConfig>("json-lines", "One JSON value on each line.")
            .AddKind<FormatConfig, FlatFormatConfig>("flat", "Records of positional or delimited fields, known by tags.")
            .AddUnavailable<FormatConfig>("edifact", "x12", "hl7")
            .AddCompiler<FormatModels, FormatCompiler>()
            .AddModel(provider => new ContentConverter(
                provider.GetRequiredService<FormatModels>(),
                provider.GetRequiredService<XmlInput>(),
                provider.GetRequiredService<NamespaceModel>(),
                provider.GetRequiredService<LimitsConfig>()
            ))
            .AddModel(provider => new SplitterCompiler(
                provider.GetRequiredService<FormatModels>(),
                provider.GetRequiredService<XmlInput>(),
                provider.GetRequiredService<NamespaceModel>(),
                provider.GetRequiredService<TimeProvider>()
            ));

    private static IExpressionCompiler CreateCompiler(IServiceProvider provider) =>
        new ExpressionCompiler(
            provider.GetRequiredService<NamespaceModel>().Uris,
            provider.GetRequiredService<XmlInput>(),
            provider.GetRequiredService<TimeProvider>(),
            provider.GetRequiredService<LimitsConfig>().CheckWholeBodies,
            provider.GetRequiredService<LookupModels>(),
            provider.GetRequiredService<SequenceUses>()
        );
}
