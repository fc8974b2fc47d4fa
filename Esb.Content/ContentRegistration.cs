using Esb.Configuration;
using Esb.Content.Expressions;
using Esb.Content.Schemas;
using Esb.Content.Transforms;
using Esb.Content.Xml;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Expressions;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Content;

/// <summary>All that reads or changes what is in a message.</summary>
public static class ContentRegistration
{
    /// <summary>Registers expressions, schemas and maps, with their sections <c>namespaces</c>, <c>schemas</c> and <c>maps</c>.</summary>
    public static IServiceCollection AddEsbContent(this IServiceCollection services) => services
        .AddXml()
        .AddExpressions()
        .AddSchemas()
        .AddMaps();

    private static IServiceCollection AddXml(this IServiceCollection services) => services
        .AddModel(provider => new XmlInput(XmlLimits.From(provider.GetRequiredService<LimitsConfig>())));

    private static IServiceCollection AddExpressions(this IServiceCollection services) => services
        .AddSection<IReadOnlyDictionary<string, NamespaceConfig>>("namespaces", "Prefixes for XPath, and the namespace that each stands for.")
        .AddCompiler<NamespaceModel, NamespaceCompiler>()
        .AddCompiling(ServiceDescriptor.Singleton(CreateCompiler));

    private static IServiceCollection AddSchemas(this IServiceCollection services) => services
        .AddSection<IReadOnlyDictionary<string, SchemaConfig>>("schemas", "XML Schemas that messages are validated with.")
        .AddCompiler<ISchemaCatalog, SchemaCompiler>();

    private static IServiceCollection AddMaps(this IServiceCollection services) => services
        .AddSection<IReadOnlyDictionary<string, MapConfig>>("maps", "Stylesheets that turn one message into another.")
        .AddCompiler<MapModels, MapCompiler>()
        .AddScoped<MapCatalog>()
        .AddScoped<IMapCatalog>(provider => provider.GetRequiredService<MapCatalog>())
        .AddSingleton<MapWatch>()
        .AddSingleton<IBusPart>(provider => provider.GetRequiredService<MapWatch>())
        .AddSingleton<IHealthNotices>(provider => provider.GetRequiredService<MapWatch>());

    private static IExpressionCompiler CreateCompiler(IServiceProvider provider) => new ExpressionCompiler(
        provider.GetRequiredService<NamespaceModel>().Uris,
        provider.GetRequiredService<XmlInput>(),
        provider.GetRequiredService<TimeProvider>(),
        provider.GetRequiredService<LimitsConfig>().CheckWholeBodies);
}
