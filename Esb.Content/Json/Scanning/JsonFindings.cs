using System.Runtime.InteropServices;
using System.Text.Json;
using Esb.Core.Errors;

namespace Esb.Content.Json.Scanning;

/// <summary>Makes answers of the values at which steps arrive.</summary>
/// <param name="paths">The questions.</param>
/// <param name="answers">Of each question what is known.</param>
/// <param name="document">The document, or its beginning.</param>
internal sealed class JsonFindings(JsonPathSet paths, JsonAnswer[] answers, ReadOnlyMemory<byte> document)
{
    private readonly List<(JsonQuestion Question, int Depth, int Start)> _open = []; // objects and arrays that are wanted whole

    /// <summary>A text, number, boolean or null.</summary>
    /// <param name="arrived">The steps that arrive at it.</param>
    /// <param name="reader">Stands at it.</param>
    /// <param name="json">How it is written.</param>
    public void Take(List<JsonStepNode> arrived, ref Utf8JsonReader reader, ReadOnlyMemory<byte> json)
    {
        foreach (var node in arrived)
        {
            foreach (var question in node.Questions)
            {
                ref var answer = ref answers[question.Index];
                if (answer.IsDecided)
                    continue;
                if (question.Tail is null)
                    Decide(ref answer, ref reader);
                else
                    Decide(ref answer, question, json);
            }
        }
    }

    /// <summary>An object or array begins.</summary>
    public void Begin(List<JsonStepNode> arrived, int depth, int start)
    {
        foreach (var node in arrived)
        {
            foreach (var question in node.Questions)
            {
                ref var answer = ref answers[question.Index];
                if (answer.IsDecided)
                    continue;
                if (question.WantsText || question.Tail is not null)
                    _open.Add((question, depth, start));
                else
                    (answer.Value, answer.IsDecided) = (true, true);
            }
        }
    }

    /// <summary>The object or array of a depth ends.</summary>
    public void End(int depth, int end)
    {
        while (_open.Count > 0 && _open[^1].Depth == depth)
        {
            var (question, _, start) = _open[^1];
            _open.RemoveAt(_open.Count - 1);
            Decide(ref answers[question.Index], question, document[start..end]);
        }
    }

    /// <summary>Nothing can arrive at these steps any more where it could only once: no name comes twice.</summary>
    public void Leave(ReadOnlySpan<JsonStepNode> nodes)
    {
        foreach (var node in nodes)
        {
            foreach (var question in node.Questions)
            {
                if (question.IsSingular)
                    answers[question.Index].IsDecided = true;
            }

            Leave(CollectionsMarshal.AsSpan(node.Next));
        }
    }

    private static void Decide(ref JsonAnswer answer, ref Utf8JsonReader reader)
    {
        answer.IsDecided = true;
        try
        {
            answer.Value = JsonValues.Of(ref reader);
        }
        catch (InvalidOperationException ex)
        {
            answer.Fault = JsonFaults.NotText(ex);
        }
    }

    private void Decide(ref JsonAnswer answer, JsonQuestion question, ReadOnlyMemory<byte> json)
    {
        try
        {
            if (question.Tail is not { } tail)
                (answer.Value, answer.IsDecided) = (JsonValues.TextOf(json.Span), true);
            else if (tail.First(json.Span, answer.Time ??= paths.NewTime()) is { } node)
                (answer.Value, answer.IsDecided) = (JsonValues.Of(node), true);
            else
                answer.IsDecided = question.IsSingular;
        }
        catch (InvalidOperationException ex)
        {
            (answer.Fault, answer.IsDecided) = (JsonFaults.NotText(ex), true);
        }
        catch (EsbException ex)
        {
            (answer.Fault, answer.IsDecided) = (ex, true); // took too long
        }
    }
}
