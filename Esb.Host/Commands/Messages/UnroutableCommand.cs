using System.CommandLine;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Host.Management;

namespace Esb.Host.Commands.Messages;

/// <summary><c>esb unroutable list|replay</c></summary>
internal sealed class UnroutableCommand : Command
{
    public UnroutableCommand(CommandContext context)
        : base("unroutable", "Shows messages that no endpoint subscribes to, and publishes them again once one does.")
    {
        Add(new ListCommand(context));
        Add(new ReplayCommand(context));
    }

    private sealed class ListCommand : Command
    {
        private static readonly string[] Header = ["SUBJECT", "MESSAGES", "OLDEST"];

        private readonly Option<int> _peek = new Option<int>("--peek")
        {
            Description = "How many are looked at.",
            DefaultValueFactory = _ => UnroutableRoutes.DefaultMessages,
        }.Within(0, UnroutableRoutes.MaxMessages);
        private readonly ListOutput _list;
        private readonly HostOptions _host;

        public ListCommand(CommandContext context)
            : base("list", "Counts them by subject.")
        {
            Add(_peek);
            _list = new ListOutput(this);
            _host = new HostOptions(this);
            SetAction((result, cancellationToken) => ListAsync(result, context, cancellationToken));
        }

        private async Task<int> ListAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
        {
            using var client = _host.Connect(result, context);
            var summary = await client.GetAsync<UnroutableSummary>($"api/unroutable?peek={result.GetValue(_peek)}", cancellationToken);
            if (_list.TryWrite(result, context, summary))
                return ExitCode.Done;
            TextTable.Write(context.Output, summary.Subjects.Select(Row).Prepend(Header));
            context.Error.WriteLine(
                summary.Peeked < summary.Count
                    ? $"{Counted.Of(summary.Count, "message")}, the oldest {summary.Peeked} of them shown."
                    : $"{Counted.Of(summary.Count, "message")}."
            );
            return ExitCode.Done;
        }

        private static string[] Row(UnroutableSubject subject) =>
            [subject.Subject, $"{subject.Count}", subject.Oldest.ToString("yyyy-MM-dd HH:mm:sszzz")];
    }

    private sealed class ReplayCommand : Command
    {
        private readonly Option<string?> _subject = new("--subject") { Description = "Only messages of this subject." };
        private readonly Option<int> _limit = new Option<int>("--limit")
        {
            Description = "How many at most.",
            DefaultValueFactory = _ => UnroutableRoutes.DefaultMessages,
        }.Within(1, UnroutableRoutes.MaxMessages);
        private readonly HostOptions _host;

        public ReplayCommand(CommandContext context)
            : base("replay", "Publishes them to their topics again; those that still find no endpoint stay.")
        {
            Add(_subject);
            Add(_limit);
            _host = new HostOptions(this);
            SetAction((result, cancellationToken) => ReplayAsync(result, context, cancellationToken));
        }

        private async Task<int> ReplayAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
        {
            using var client = _host.Connect(result, context);
            var wanted = new ReplayUnroutable { Subject = result.GetValue(_subject), Limit = result.GetValue(_limit) };
            var replay = await client.PostAsync<UnroutableReplay>("api/unroutable/replays", wanted, cancellationToken);
            context.Output.WriteLine($"{Counted.Of(replay.Replayed, "message")} replayed.");
            foreach (var subject in replay.Unroutable)
                context.Error.WriteLine($"Still no endpoint subscribes to {SafeText.Of(subject, int.MaxValue)}.");
            return ExitCode.Done;
        }
    }
}
