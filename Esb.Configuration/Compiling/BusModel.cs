using Esb.Configuration.Revisions;
using Esb.Core.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Configuration.Compiling;

/// <summary>A compiled configuration: an immutable value. Several can exist in one process, each with its own expressions, maps and
/// processes.</summary>
public sealed class BusModel
{
    private readonly IReadOnlyDictionary<Type, object> _models;

    /// <summary>Creates the result of a compile phase.</summary>
    /// <param name="configuration">The configuration that was compiled.</param>
    /// <param name="models">The models by their type.</param>
    /// <param name="warnings">Warnings about settings that are allowed but need the operator's attention.</param>
    public BusModel(EsbConfiguration configuration, IReadOnlyDictionary<Type, object> models, IReadOnlyList<ConfigError> warnings) =>
        (Configuration, _models, Warnings, Revision) = (configuration, models, warnings, NameOf(configuration, models.Values));

    /// <summary>The configuration that was compiled.</summary>
    public EsbConfiguration Configuration { get; }

    /// <summary>Twelve hexadecimal digits, the same for every configuration that says the same as it is written, with the same maps and
    /// schemas: references and variables of a host do not count.</summary>
    public string Revision { get; }

    /// <summary>What is allowed, but should be known: reported at every start, and by <c>esb validate</c>.</summary>
    public IReadOnlyList<ConfigError> Warnings { get; }

    /// <summary>The full path of every map, schema and other content that was compiled.</summary>
    public IEnumerable<string> ContentPaths => _models.Values.OfType<IFileContents>().SelectMany(model => model.Paths).Distinct();

    /// <summary>The revision of a configuration with what was compiled of the files that it names.</summary>
    public static string NameOf(EsbConfiguration configuration, IEnumerable<object> models) =>
        Fingerprint.Shorten(
            Fingerprint.Of([
                configuration.WrittenHash,
                .. models.OfType<IFileContents>().Select(model => model.ContentHash).Order(StringComparer.Ordinal),
            ])
        );

    /// <summary>A model by its type.</summary>
    /// <exception cref="KeyNotFoundException">None of this type was registered.</exception>
    public TModel Get<TModel>()
        where TModel : class => (TModel)_models[typeof(TModel)];

    /// <summary>Returns a model by its type; null if none was registered.</summary>
    public TModel? Find<TModel>()
        where TModel : class => (TModel?)_models.GetValueOrDefault(typeof(TModel));

    /// <summary>Registers the models with the services of a bus. Fixed models are singletons; all others are resolved from the revision in
    /// scope.</summary>
    public IServiceCollection AddTo(IServiceCollection services)
    {
        var fixedModels = services
            .Select(service => service.ImplementationInstance)
            .OfType<CompileService>()
            .Where(service => service.IsFixed)
            .Select(service => service.Descriptor.ServiceType)
            .ToHashSet();
        foreach (var (type, model) in _models)
        {
            if (fixedModels.Contains(type))
                services.AddSingleton(type, model);
            else
                services.AddScoped(type, provider => provider.GetRequiredService<RevisionScope>().Model._models[type]);
        }

        return services
            .AddScoped<RevisionScope>()
            .AddScoped(provider => provider.GetRequiredService<RevisionScope>().Model)
            .AddScoped(provider => provider.GetRequiredService<RevisionScope>().Model.Configuration)
            .AddScoped(provider => new RevisionIdentity(provider.GetRequiredService<RevisionScope>().Model.Revision))
            .AddSingleton(provider => new LiveRevisions(provider.GetRequiredService<IServiceScopeFactory>(), this))
            .AddSingleton<IRevisions>(provider => provider.GetRequiredService<LiveRevisions>())
            .AddSingleton(typeof(Live<>));
    }
}
