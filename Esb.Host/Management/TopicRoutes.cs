using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Host.Management;

/// <summary>Shows the topics and their subscribers, and publishes for test clients.</summary>
internal static class TopicRoutes
{
    private const int MaxCount = 1_000;

    public static IEndpointRouteBuilder MapTopicRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var (limits, topics) = (
            bus.GetRequiredService<Live<LimitsConfig>>(),
            bus.GetRequiredService<Live<IReadOnlyDictionary<string, TopicConfig>>>()
        );
        var endpoints = bus.GetRequiredService<Live<EndpointModels>>();
        api.MapGet("/topics", () => new Page<TopicView>(TopicView.AllOf(topics.Current, endpoints.Current)));
        api.MapPost(
            "/topics/{subject}/messages",
            (string subject, HttpRequest request, CancellationToken cancellationToken) =>
                new TestPublisher(limits.Current, bus).PublishAsync(
                    SubjectOf(subject, topics.Current),
                    request,
                    CountOf(request),
                    cancellationToken
                )
        );
        return api;
    }

    private static int CountOf(HttpRequest request) =>
        new QueryReader(request.Query).Allow("count").Integer("count", 1, MaxCount, otherwise: 1);

    private static Subject SubjectOf(string text, IReadOnlyDictionary<string, TopicConfig> topics)
    {
        var subject = Subject.Parse(text) ?? throw Problems.Parameter("subject", Subject.Expected);
        return topics.ContainsKey(subject.Topic)
            ? subject
            : throw Problems.NotFound($"There is no topic '{subject.Topic}'{NearestName.Hint(subject.Topic, topics.Keys)}");
    }
}
