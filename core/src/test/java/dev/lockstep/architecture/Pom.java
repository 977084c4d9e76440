package dev.lockstep.architecture;

import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/** What a Maven project takes along to where it runs. */
final class Pom {
  private static final Set<String> ABSENT_AT_RUN_TIME = Set.of("test", "provided");

  private Pom() {}

  /** The direct dependencies of the project itself that are there at run time. */
  static List<String> runtimeDependencies(byte[] pom) throws Exception {
    Document document =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new ByteArrayInputStream(pom));
    List<String> dependencies = new ArrayList<>();
    for (Element list : children(document.getDocumentElement(), "dependencies")) {
      for (Element dependency : children(list, "dependency")) {
        if (!ABSENT_AT_RUN_TIME.contains(text(dependency, "scope"))) {
          dependencies.add(text(dependency, "groupId") + ":" + text(dependency, "artifactId"));
        }
      }
    }
    return dependencies;
  }

  private static String text(Element parent, String name) {
    List<Element> found = children(parent, name);
    return found.isEmpty() ? "" : found.get(0).getTextContent().strip();
  }

  private static List<Element> children(Element parent, String name) {
    List<Element> found = new ArrayList<>();
    NodeList nodes = parent.getChildNodes();
    for (int i = 0; i < nodes.getLength(); i++) {
      Node node = nodes.item(i);
      if (node instanceof Element element && element.getTagName().equals(name)) {
        found.add(element);
      }
    }
    return found;
  }
}
